"""Sinusoidal positions: sines and cosines of the position, added to a token."""
