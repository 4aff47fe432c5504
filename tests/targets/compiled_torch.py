"""Functions of torch that are right as they are written, and some wrong once they are compiled.

Here torch.compile traces, and keeps a program for each shape, as always; but no C++ compiler builds
one, which would take seconds for each and is no part of what is tested.
"""

from functools import partial

import torch

torch.compile = partial(torch.compile, backend="eager")
_asked = {"scale": 1.0}


def right(query, key, value):
    s = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    return torch.softmax(s, dim=-1) @ value


def _lse(query, key, value):  # noqa: ARG001
    """Right as it is written, as well."""
    s = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    return torch.logsumexp(s, dim=-1) + torch.compiler.is_compiling()


def with_lse(query, key, value):
    return right(query, key, value)


with_lse.lse = _lse


def leaves_out_the_scale(query, key, value):
    """Has a way of its own for compilers, which nobody tried."""
    if torch.compiler.is_compiling():
        return torch.softmax(query @ key.transpose(-1, -2), dim=-1) @ value
    return right(query, key, value)


@torch.compiler.assume_constant_result
def _last():
    return _asked["scale"]


def bakes_in(query, key, value):
    """Reads what a program has for good, as it was when that was compiled."""
    _asked["scale"] = query.shape[-1] ** -0.5
    return torch.softmax(query @ key.transpose(-1, -2) * _last(), dim=-1) @ value


@torch.compiler.disable
def _by_itself(query, key, value):
    return right(query, key, value)


def breaks(query, key, value):
    """In two parts, of which one is compiled."""
    return _by_itself(query, key, value) + 0


def hides(query, key, value):
    """Not even a part is compiled."""
    return _by_itself(query, key, value)


class Layer(torch.nn.MultiheadAttention):
    """A layer that forgets its values once it is compiled."""

    def forward(self, query, key, value, **options):
        value = value * 0 if torch.compiler.is_compiling() else value
        return super().forward(query, key, value, **options)


class Cache:
    """A class of other objects than modules."""

    def extend(self, query, key, value):
        return right(query, key, value)
