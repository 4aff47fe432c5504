"""The laws of dropout, one idea a module."""
