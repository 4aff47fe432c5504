"""The clauses of section Q."""
