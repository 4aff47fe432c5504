"""The right steps of a layer, of which every mistake replaces one.

They say what spec.layer.definition says, in the words of an ordinary program: arrays come in
the dtype under test, and True in a mask forbids. To project, to split and to merge is the same
there; the softmax is that of `spec.attention.mistakes.steps`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spec.layer.definition import linear
from spec.notation import Array

Inputs = tuple[Array, Array, Array]  # query, key and value, or what is made of each
Mask = Array | None  # none where nothing is hidden
Named = dict[str, Array]  # parameters, or their gradients, by name


class Sizes(NamedTuple):
    """The sizes of a call, by the names of its axes."""

    B: int
    H: int
    N: int
    M: int
    A: int

    @property
    def D(self) -> int:
        return self.A // self.H


@dataclass
class Pass:
    """Everything that a forward pass computed: what it was given, q k v, weights, context."""

    sizes: Sizes
    inputs: Inputs
    heads: Inputs
    sigma: float
    a: Array
    context: Array


def receive(query: Array, key: Array, value: Array, _: Sizes) -> Inputs:
    """What is projected to queries, keys and values."""
    return query, key, value


def pick(p: Named) -> Named:
    """The parameters that are used, by the name of their place."""
    return p


def scale(sizes: Sizes) -> float:
    """1 / sqrt(D)."""
    return float(1 / np.sqrt(sizes.D))


def hidden_by_padding(padding: Array, sizes: Sizes) -> Array:
    """The padding of a batch element, for all its heads and queries.   (B, 1, 1, M)"""
    del sizes
    return padding[:, None, None, :]


def spread(mask: Array, sizes: Sizes) -> Array:
    """A mask for all (N, M), or the heads of a batch element side by side (B H, N, M)."""
    if mask.ndim == 2:
        return mask[None, None]
    return mask.reshape(sizes.B, sizes.H, sizes.N, sizes.M)


def combine(s: Array, mask: Mask, padding: Mask) -> Array:
    """The scores, with what is added to them, and -inf where either mask forbids."""
    for hidden in (mask, padding):
        if hidden is not None:
            s = np.where(hidden, -np.inf, s) if hidden.dtype == bool else s + hidden
    return s


def finish(context: Array, W: Array, b: Array | None, H: int) -> Array:
    """y = C W_o^T + b_o."""
    del H
    return linear(context, W, b)


def show(a: Array, average: bool) -> Array:
    """The weights of every head, or their mean."""
    return a.mean(axis=1) if average else a


def answer(y: Array, evaluating: bool, padding: Mask, asked: bool) -> Array:
    """The output is the same in either mode, with padding or without, asked for weights or not."""
    del evaluating, padding, asked
    return y


# Backward


def into_context(dout: Array, W: Array) -> Array:
    """dC = dout W_o."""
    return dout @ W


def score_gradients(a: Array, da: Array) -> Array:
    """The Jacobian of the softmax, diag(a) - a a^T, times da."""
    return np.asarray(a * (da - (a * da).sum(axis=-1, keepdims=True)))


def into_keys(ds: Array, q: Array, v: Array) -> Array:
    """dk = ds^T q, but for the scale; the values have no part in it."""
    del v
    return ds.swapaxes(-1, -2) @ q


def of_weight(dy: Array, x: Array) -> Array:
    """sum dy^T x over all rows of all batch elements."""
    return np.einsum("blo,bli->oi", dy, x)


def of_bias(dy: Array) -> Array:
    """sum dy over all rows of all batch elements."""
    return np.asarray(dy.sum(axis=(0, 1)))


def of_input(dy: Array, W: Array, place: str) -> Array:
    """dx = dy W, for the input at a place."""
    del place
    return dy @ W


def arrive(found: list[Array], inputs: tuple[Array, ...]) -> list[Array]:
    """The gradients of query, key and value, be they one array or three."""
    del inputs
    return found


def gather(named: Named) -> Named:
    """Every gradient at the place of its parameter."""
    return named


def descend(p: Array, dp: Array, rate: float) -> Array:
    """One step down the slope."""
    return np.asarray(p - np.asarray(rate, p.dtype) * dp)


def restore(state: dict[str, Any]) -> dict[str, Any]:
    """What is loaded is what was saved."""
    return state
