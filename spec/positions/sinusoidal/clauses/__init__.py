"""The laws of sinusoidal positions, one idea a module."""
