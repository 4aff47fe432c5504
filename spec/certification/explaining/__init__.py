"""Smaller counterexamples, and scripts that repeat them."""
