"""The laws of linear biases, one idea a module."""
