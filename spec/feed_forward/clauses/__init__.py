"""The clauses about a feed-forward network, one topic per module."""
