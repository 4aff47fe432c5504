"""Who reads whom: heads, groups of heads, batches, and the two widths.

With one head, one batch and one width, all of these are right.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes import steps
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import scores
from spec.notation import Array

Inputs = tuple[Array, Array, Array]


def moved(x: Array) -> Array:
    """Heads and length swapped by reinterpreting the memory, not by transposing."""
    return x.swapaxes(1, 2).reshape(x.shape)


@wrong(
    "share",
    incident="I19",
    citation="onnx/onnx#7274",
    convention=("grouping", "interleaved"),
    where="grouped heads and G > 1",
)
def tiles_key_heads(x: Array, heads: int) -> Array:
    """Tiles the key heads where it should repeat each: head h reads h mod G."""
    return np.tile(x, (1, heads // max(x.shape[1], 1), 1, 1))


@wrong("share", incident="I19", citation="PSAL-POSTECH/ONNXim#34", where="G > 1")
def divides_heads_by_key_heads(x: Array, heads: int) -> Array:
    """Divides by the number of groups, not by their size: head h reads h // G."""
    G = max(x.shape[1], 1)
    return x[:, np.arange(heads) // G % G]


@wrong("share", incident="I19", where="G > 1")
def reads_the_first_key_head(x: Array, heads: int) -> Array:
    """Treats every grouping as if there were one key head."""
    return np.repeat(x[:, :1], heads, axis=1)


@wrong("read", incident="I26", where="B > 1 and several scores")
def reads_the_first_batch_of_keys(query: Array, key: Array, value: Array) -> Inputs:
    """Has no stride for the batch of the keys."""
    first = np.broadcast_to(key[:1], key.shape)
    return steps.read(query, first, value)


@wrong("read", incident="I24", where="H > 1 and several scores")
def splits_heads_without_transposing(query: Array, key: Array, value: Array) -> Inputs:
    """Views (length, heads, width) as (heads, length, width)."""
    q, k, v = steps.read(query, key, value)
    return moved(q), moved(k), moved(v)


@wrong("finish", incident="I24", where="H > 1 and N > 1")
def merges_heads_without_transposing(o: Array, dtype: np.dtype[Any]) -> Array:
    """Views (heads, length, width) as (length, heads, width) on the way out."""
    return moved(o).astype(dtype)


@wrong("read", incident="I25", where="not grouped heads and N = M and M > 1")
def swaps_queries_and_keys(query: Array, key: Array, value: Array) -> Inputs:
    """Passes query and key in the wrong order, which shows in no shape if they are alike."""
    q, k, v = steps.read(query, key, value)
    return (k, q, v) if q.shape == k.shape else (q, k, v)


@wrong("read", incident="I25", where="D = E")
def reads_keys_as_values(query: Array, key: Array, value: Array) -> Inputs:
    """Takes the values from the buffer of the keys, if the widths agree."""
    q, k, v = steps.read(query, key, value)
    return q, k, (k if k.shape == v.shape else v)


@wrong(
    "scores", incident="I36", citation="triton-lang/triton#621", where="D > 64 and several scores"
)
def reads_only_64_columns(q: Array, k: Array, sigma: float) -> Array:
    """Has a width of 64 compiled in."""
    return scores(q[..., :64], k[..., :64], sigma)


@wrong("read", incident="I36", where="D < E")
def takes_the_width_of_values_from_keys(query: Array, key: Array, value: Array) -> Inputs:
    """Has one width for keys and values, so that wider values lose their last columns."""
    q, k, v = steps.read(query, key, value)
    return q, k, np.where(np.arange(v.shape[-1]) < k.shape[-1], v, 0)
