"""Independent reference implementations that the definition is checked against."""
