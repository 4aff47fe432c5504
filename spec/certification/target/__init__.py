"""Targets: from a name to a record of functions, and the problems that it supports."""
