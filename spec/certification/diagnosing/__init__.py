"""Causes: sets of problems with a condition in words, on which a target is wrong; and the rest."""
