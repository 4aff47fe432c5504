"""The clauses on merging partial results (section Q), one topic per module."""
