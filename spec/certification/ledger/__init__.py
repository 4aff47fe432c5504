"""Certificates: their text, their files, and the differences between two of them."""
