"""Harmless variants of a layer: they look wrong but are correct, and must be certified."""

import numpy as np

from spec.attention.mistakes.exponentials import softmax
from spec.layer.mistakes.making import wrong
from spec.layer.mistakes.steps import Sizes
from spec.notation import Array


@wrong("pick", incident="BUG-40", harmless=True)
def leaves_out_the_key_bias(p: dict[str, Array]) -> dict[str, Array]:
    """Projects keys without their bias, which shifts all scores of a query by the same amount."""
    return {name: x for name, x in p.items() if name != "b_k"}


@wrong("finish", incident="BUG-40", harmless=True)
def projects_head_by_head(context: Array, W: Array, b: Array | None, H: int) -> Array:
    """Projects each head through its columns of W_o, sums the results, and adds the bias once."""
    parts = zip(np.split(context, H, axis=-1), np.split(W, H, axis=1), strict=True)
    y = np.sum([c @ w.T for c, w in parts], axis=0)
    return np.asarray(y if b is None else y + b)


@wrong("scale", incident="BUG-40", harmless=True)
def computes_the_scale_by_a_power(sizes: Sizes) -> float:
    """Computes the scale as D ** -0.5, which may round differently from 1 / sqrt(D)."""
    return float(sizes.D) ** -0.5


@wrong("weigh", incident="BUG-40", harmless=True)
def subtracts_a_little_more_than_the_maximum(s: Array) -> Array:
    """Subtracts 1 from all scores before the softmax, in which a common shift cancels."""
    return softmax(s - 1)
