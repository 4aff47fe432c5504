"""explaining."""
