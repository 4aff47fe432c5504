"""The clauses on sinusoidal positions, one topic per module."""
