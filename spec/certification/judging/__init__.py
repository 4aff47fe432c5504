"""Judging: one clause after another, on drawn problems."""
