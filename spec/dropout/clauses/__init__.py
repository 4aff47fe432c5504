"""The clauses on dropout (section D), one topic per module."""
