"""The laws of a feed-forward network, one idea a module."""
