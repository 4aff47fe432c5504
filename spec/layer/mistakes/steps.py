"""The right steps of a layer, of which every mistake replaces one.

They say what spec.layer.definition says, in the words of an ordinary program: arrays come in
the dtype under test, and True in a mask forbids.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from spec.mistake import call
from spec.notation import Array


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
    inputs: tuple[Array, Array, Array]
    heads: tuple[Array, Array, Array]
    sigma: float
    a: Array
    context: Array


def receive(query: Array, key: Array, value: Array, _: Sizes) -> tuple[Array, Array, Array]:
    """What is projected to queries, keys and values."""
    return query, key, value


def project(x: Array, W: Array, b: Array | None) -> Array:
    """y = x W^T + b."""
    y = x @ W.T
    return y if b is None else y + b


def pick(p: dict[str, Array]) -> dict[str, Array]:
    """The parameters that are used, by the name of their place."""
    return p


def split(x: Array, H: int) -> Array:
    """Head h takes columns hD to (h + 1)D.   (B, L, A) to (B, H, L, D)"""
    B, L, A = x.shape
    return x.reshape(B, L, H, A // H).swapaxes(1, 2)


def merge(x: Array) -> Array:
    """The heads side by side.   (B, H, L, D) to (B, L, A)"""
    B, H, L, D = x.shape
    return x.swapaxes(1, 2).reshape(B, L, H * D)


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


def combine(s: Array, mask: Array | None, padding: Array | None) -> Array:
    """The scores, with what is added to them, and -inf where either mask forbids."""
    for hidden in (mask, padding):
        if hidden is not None:
            s = np.where(hidden, -np.inf, s) if hidden.dtype == bool else s + hidden
    return s


def weigh(s: Array) -> Array:
    """The softmax, and zero where every score is -inf."""
    top = s.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isneginf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return np.asarray(e / np.where(total == 0, 1, total))


def finish(context: Array, W: Array, b: Array | None, H: int) -> Array:
    """y = C W_o^T + b_o."""
    del H
    return project(context, W, b)


def show(a: Array, average: bool) -> Array:
    """The weights of every head, or their mean."""
    return a.mean(axis=1) if average else a


def answer(y: Array, evaluating: bool, padding: Array | None, asked: bool) -> Array:
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


def gather(named: dict[str, Array]) -> dict[str, Array]:
    """Every gradient at the place of its parameter."""
    return named


def descend(p: Array, dp: Array, rate: float) -> Array:
    """One step down the slope."""
    return np.asarray(p - np.asarray(rate, p.dtype) * dp)


def restore(state: dict[str, Any]) -> dict[str, Any]:
    """What is loaded is what was saved."""
    return state


@dataclass(frozen=True)
class Steps:
    """The steps of a layer, by name; the right ones unless replaced."""

    receive: Callable[..., tuple[Array, Array, Array]] = receive
    project: Callable[..., Array] = project
    pick: Callable[..., dict[str, Array]] = pick
    split: Callable[..., Array] = split
    merge: Callable[..., Array] = merge
    scale: Callable[..., float] = scale
    hidden_by_padding: Callable[..., Array] = hidden_by_padding
    spread: Callable[..., Array] = spread
    combine: Callable[..., Array] = combine
    weigh: Callable[..., Array] = weigh
    finish: Callable[..., Array] = finish
    show: Callable[..., Array] = show
    answer: Callable[..., Array] = answer
    into_context: Callable[..., Array] = into_context
    score_gradients: Callable[..., Array] = score_gradients
    into_keys: Callable[..., Array] = into_keys
    of_weight: Callable[..., Array] = of_weight
    of_bias: Callable[..., Array] = of_bias
    of_input: Callable[..., Array] = of_input
    arrive: Callable[..., list[Array]] = arrive
    gather: Callable[..., dict[str, Array]] = gather
    descend: Callable[..., Array] = descend
    restore: Callable[..., dict[str, Any]] = restore
    call: Callable[..., Any] = call


RIGHT = Steps()
