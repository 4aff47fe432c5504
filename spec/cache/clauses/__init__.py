"""The laws of a cache, one idea a module."""
