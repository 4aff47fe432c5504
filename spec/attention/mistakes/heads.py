"""Known bugs about heads, groups of heads, batches, and the head sizes of keys and values.

Most of these bugs do not show with one head, one batch and equal head sizes.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes import steps
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import scores
from spec.notation import Array

Inputs = tuple[Array, Array, Array]


def moved(x: Array) -> Array:
    """The array with heads and length exchanged by a reshape instead of a transpose."""
    return x.swapaxes(1, 2).reshape(x.shape)


@wrong(
    "share",
    incident="BUG-19",
    citation="onnx/onnx#7274",
    convention=("grouping", "interleaved"),
    where="grouped heads and G > 1",
)
def tiles_key_heads(x: Array, heads: int) -> Array:
    """Tiles the key heads instead of repeating each: query head h uses key head h mod G."""
    return np.tile(x, (1, heads // max(x.shape[1], 1), 1, 1))


@wrong("share", incident="BUG-19", citation="PSAL-POSTECH/ONNXim#34", where="G > 1")
def divides_heads_by_key_heads(x: Array, heads: int) -> Array:
    """Uses key head h // G, modulo G, for query head h: it divides by G, not by the group size."""
    G = max(x.shape[1], 1)
    return x[:, np.arange(heads) // G % G]


@wrong("share", incident="BUG-19", where="G > 1")
def reads_the_first_key_head(x: Array, heads: int) -> Array:
    """Uses the first key and value head for every query head, as if G were 1."""
    return np.repeat(x[:, :1], heads, axis=1)


@wrong("read", incident="BUG-26", where="B > 1 and several scores")
def reads_the_first_batch_of_keys(query: Array, key: Array, value: Array) -> Inputs:
    """Uses the keys of the first batch for every batch, as without a batch stride."""
    first = np.broadcast_to(key[:1], key.shape)
    return steps.read(query, first, value)


@wrong("read", incident="BUG-24", where="H > 1 and several scores")
def splits_heads_without_transposing(query: Array, key: Array, value: Array) -> Inputs:
    """Reshapes inputs from (length, heads, size) to (heads, length, size) without a transpose."""
    q, k, v = steps.read(query, key, value)
    return moved(q), moved(k), moved(v)


@wrong("finish", incident="BUG-24", where="H > 1 and N > 1")
def merges_heads_without_transposing(o: Array, dtype: np.dtype[Any]) -> Array:
    """Reshapes outputs from (length, heads, size) to (heads, length, size) without a transpose."""
    return moved(o).astype(dtype)


@wrong("read", incident="BUG-25", where="not grouped heads and N = M and M > 1")
def swaps_queries_and_keys(query: Array, key: Array, value: Array) -> Inputs:
    """Swaps query and key if they have the same shape, so no shape error shows it."""
    q, k, v = steps.read(query, key, value)
    return (k, q, v) if q.shape == k.shape else (q, k, v)


@wrong("read", incident="BUG-25", where="D = E")
def reads_keys_as_values(query: Array, key: Array, value: Array) -> Inputs:
    """Uses the keys as values if both have the same head size."""
    q, k, v = steps.read(query, key, value)
    return q, k, (k if k.shape == v.shape else v)


@wrong(
    "scores",
    incident="BUG-36",
    citation="triton-lang/triton#621",
    where="D > 64 and several scores",
)
def reads_only_64_columns(q: Array, k: Array, sigma: float) -> Array:
    """Uses only the first 64 columns of queries and keys: a head size of 64 is hard-coded."""
    return scores(q[..., :64], k[..., :64], sigma)


@wrong("read", incident="BUG-36", where="D < E")
def takes_the_width_of_values_from_keys(query: Array, key: Array, value: Array) -> Inputs:
    """Uses the head size of the keys for the values, so wider values lose their last columns."""
    q, k, v = steps.read(query, key, value)
    return q, k, np.where(np.arange(v.shape[-1]) < k.shape[-1], v, 0)
