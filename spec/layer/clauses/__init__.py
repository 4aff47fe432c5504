"""clauses."""
