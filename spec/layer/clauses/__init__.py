"""The clauses about a layer, one topic per module."""
