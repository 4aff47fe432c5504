"""The clauses of attention, one topic a module; `spec.attention` lists them in reading order."""
