"""The correct steps of a layer. A known bug replaces one of them.

They compute what `spec.layer.definition` defines, as an ordinary program would: arrays have the
dtype under test, and True in a mask means masked. To project, split and merge, the definition's
functions are used. The softmax is that of `spec.attention.mistakes.exponentials`.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spec.layer.definition import linear
from spec.notation import Array

Inputs = tuple[Array, Array, Array]  # for query, key and value
Mask = Array | None  # None if nothing is masked
Named = dict[str, Array]  # parameters, or their gradients, by name


class Sizes(NamedTuple):
    """The sizes of a call, named by axis."""

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
    """The results of a forward pass: sizes, inputs, q k v, scale, weights, context."""

    sizes: Sizes
    inputs: Inputs
    heads: Inputs
    sigma: float
    a: Array
    context: Array


def receive(query: Array, key: Array, value: Array, _: Sizes) -> Inputs:
    """The inputs that are projected to queries, keys and values."""
    return query, key, value


def pick(p: Named) -> Named:
    """The parameters that the layer uses, by name."""
    return p


def scale(sizes: Sizes) -> float:
    """1 / sqrt(D)."""
    return float(1 / np.sqrt(sizes.D))


def hidden_by_padding(padding: Array, sizes: Sizes) -> Array:
    """The padding mask, in a shape that broadcasts over heads and queries.   (B, 1, 1, M)"""
    del sizes
    return padding[:, None, None, :]


def spread(mask: Array, sizes: Sizes) -> Array:
    """The attention mask with four axes.   (N, M) to (1, 1, N, M), (B H, N, M) to (B, H, N, M)"""
    if mask.ndim == 2:
        return mask[None, None]
    return mask.reshape(sizes.B, sizes.H, sizes.N, sizes.M)


def combine(s: Array, mask: Mask, padding: Mask) -> Array:
    """The scores plus the additive masks, and -inf where a boolean mask is True."""
    for hidden in (mask, padding):
        if hidden is not None:
            s = np.where(hidden, -np.inf, s) if hidden.dtype == bool else s + hidden
    return s


def finish(context: Array, W: Array, b: Array | None, H: int) -> Array:
    """y = C W_o^T + b_o."""
    del H
    return linear(context, W, b)


def show(a: Array, average: bool) -> Array:
    """The weights of every head, or their mean over the heads."""
    return a.mean(axis=1) if average else a


def answer(y: Array, evaluating: bool, padding: Mask, asked: bool) -> Array:
    """The output, unchanged: it depends neither on the mode nor on a request for weights."""
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
    """dk = ds^T q, without the scale; v is used by a known bug only."""
    del v
    return ds.swapaxes(-1, -2) @ q


def of_weight(dy: Array, x: Array) -> Array:
    """The sum of dy^T x over all positions of all batch elements."""
    return np.einsum("blo,bli->oi", dy, x)


def of_bias(dy: Array) -> Array:
    """The sum of dy over all positions of all batch elements."""
    return np.asarray(dy.sum(axis=(0, 1)))


def of_input(dy: Array, W: Array, place: str) -> Array:
    """dx = dy W, for the input that `place` names: "q", "k" or "v"."""
    del place
    return dy @ W


def arrive(found: list[Array], inputs: tuple[Array, ...]) -> list[Array]:
    """The gradients of query, key and value, also if some of them are the same array."""
    del inputs
    return found


def gather(named: Named) -> Named:
    """The gradients, each under the name of its parameter."""
    return named


def descend(p: Array, dp: Array, rate: float) -> Array:
    """The parameters after one step of gradient descent."""
    return np.asarray(p - np.asarray(rate, p.dtype) * dp)


def restore(state: dict[str, Any]) -> dict[str, Any]:
    """The saved state, unchanged, as the layer loads it."""
    return state
