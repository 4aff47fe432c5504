"""Causes: describable sets of problems on which a target is wrong, and the region outside them."""
