"""The executable specification of multi-head attention."""
