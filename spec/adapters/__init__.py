"""Attention functions, layers and caches of other libraries, one file for each.

Each file imports its library. Nothing imports a file but who names it as a target, so the package
depends on none of these libraries.
"""
