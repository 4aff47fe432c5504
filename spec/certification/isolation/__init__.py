"""Targets in processes of their own, so that a crash is a verdict."""
