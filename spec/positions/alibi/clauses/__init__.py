"""The clauses on linear biases (ALiBi), one topic per module."""
