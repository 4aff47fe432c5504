"""How a failure of an attention function is shown: as calls of it that anyone can repeat."""
