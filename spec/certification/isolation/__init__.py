"""Targets in child processes, so that a crash of a target is a verdict."""
