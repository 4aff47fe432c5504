"""Plausible wrong implementations of attention."""
