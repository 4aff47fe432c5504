"""The clauses about KV caches, one topic per module."""
