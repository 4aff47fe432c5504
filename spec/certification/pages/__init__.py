"""Certificates as pages of HTML: one whole, and many in a table."""
