"""Right implementations of attention."""
