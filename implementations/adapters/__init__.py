"""Attention functions of other libraries, one file for each."""
