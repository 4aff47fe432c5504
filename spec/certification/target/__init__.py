"""From what a person names to a record, and what it answers."""
