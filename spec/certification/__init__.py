"""From a target to a certificate."""
