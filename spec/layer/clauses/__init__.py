"""The laws of a layer, one idea a module."""
