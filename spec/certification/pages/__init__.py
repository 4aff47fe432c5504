"""Certificates as pages of HTML: one whole, and many side by side."""
