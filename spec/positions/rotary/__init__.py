"""Rotary positions: queries and keys turned by their positions, pair by pair.

Lengths hardly stray at all, wherever the angle does (`rounding`).
"""
