"""The exceptions of a runner itself, not of a target."""


class NoGradient(Exception):
    """A library has no gradient for an input, because the result does not depend on it."""


class Absent(Exception):
    """A library, a device, a way of compiling, or a name is not there; the message says which."""
