"""The laws of rotary positions, one idea a module."""
