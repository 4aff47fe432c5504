"""The clauses on rotary positions, one topic per module."""
