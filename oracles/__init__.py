"""Independent answers to hold the definition against."""
