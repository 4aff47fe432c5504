"""Code that looks wrong but is correct: equal in exact arithmetic, and within every error bound.

These functions test the specification in the other direction. A clause that rejects one of them
demands a particular way to compute attention, and not attention itself.
"""

import math

import numpy as np

from spec.attention.mistakes import making, steps
from spec.attention.mistakes.exponentials import divided, forbid, softmax, top
from spec.attention.mistakes.given import INPUTS, Given
from spec.attention.mistakes.making import Attend, wrong
from spec.attention.mistakes.softmax import normalised, powers
from spec.attention.mistakes.tiles import TILE
from spec.notation import Array


@wrong("weigh", incident="BUG-40", citation="tinygrad/tinygrad#2425", harmless=True)
def adds_one_to_every_allowed_score(s: Array, allowed: Array) -> Array:
    """Adds a mask of 1 and -inf instead of 0 and -inf; the softmax cancels the constant."""
    return softmax(forbid(s + 1, allowed))


@wrong("weigh", incident="BUG-40", harmless=True)
def subtracts_more_than_the_maximum(s: Array, allowed: Array) -> Array:
    """Rounds the maximum up to a whole number before subtracting it."""
    hidden = forbid(s, allowed)
    return normalised(np.exp(hidden - np.ceil(top(hidden))))


@wrong("weigh", incident="BUG-40", harmless=True)
def works_in_base_two(s: Array, allowed: Array) -> Array:
    """Computes powers of two of the scores times log2(e), as fast kernels do."""
    hidden = forbid(s, allowed)
    return normalised(np.exp2((hidden - top(hidden)) * s.dtype.type(np.log2(math.e))))


@wrong("weigh", incident="BUG-40", harmless=True)
def multiplies_numerator_and_denominator(s: Array, allowed: Array) -> Array:
    """Multiplies every exponential by 4, which the division cancels."""
    return normalised(4 * powers(s, allowed))


@wrong("scores", incident="BUG-40", harmless=True)
def scales_queries_before_the_product(q: Array, k: Array, sigma: float) -> Array:
    """Scales the queries before the product instead of the scores after it."""
    return (q * q.dtype.type(sigma)) @ k.swapaxes(-1, -2)


@wrong("call", incident="BUG-40", spoils="forward", harmless=True)
@np.errstate(all="ignore")
def divides_late(_: Attend, given: Given) -> Array:
    """Multiplies exponentials by the values first, and divides by their sum at the end."""
    seen = making.forward(given, making.RIGHT)
    e = powers(seen.s, seen.allowed)
    o = divided(steps.combine(e, seen.v, seen.allowed), e.sum(axis=-1, keepdims=True))
    return steps.sink(o, seen.s, seen.allowed, given).astype(given.query.dtype)


@wrong("call", incident="BUG-40", spoils="forward", harmless=True)
@np.errstate(all="ignore")
def works_tile_by_tile(_: Attend, given: Given) -> Array:
    """Keeps a running maximum over tiles of keys, and rescales the sums when it rises."""
    seen = making.forward(given, making.RIGHT)
    hidden, o = forbid(seen.s, seen.allowed), np.zeros_like(seen.o)
    first = -np.inf if seen.sinks is None else seen.sinks
    largest = np.full_like(hidden, first, shape=(*hidden.shape[:-1], 1))
    total = np.where(np.isneginf(largest), 0, np.ones_like(largest))
    for start in range(0, seen.sizes.M, TILE):
        tile = slice(start, start + TILE)
        raised = np.maximum(largest, hidden[..., tile].max(axis=-1, keepdims=True))
        finite = np.where(np.isneginf(raised), 0, raised)
        e, kept = np.exp(hidden[..., tile] - finite), np.exp(largest - finite)
        o = kept * o + steps.combine(e, seen.v[..., tile, :], seen.allowed[..., tile])
        total, largest = kept * total + e.sum(axis=-1, keepdims=True), raised
    return divided(o, total).astype(given.query.dtype)


@wrong("call", incident="BUG-40", spoils="forward", harmless=True)
def takes_the_heads_in_reverse(attend: Attend, given: Given) -> Array:
    """Processes the heads from last to first, and restores their order at the end."""
    turned = {name: getattr(given, name)[:, ::-1] for name in INPUTS}
    if given.attn_mask is not None and given.attn_mask.ndim > 2:
        turned["attn_mask"] = given.attn_mask[..., ::-1, :, :]
    if given.sinks is not None:
        turned["sinks"] = given.sinks[::-1]
    if given.alibi_slopes is not None:
        turned["alibi_slopes"] = given.alibi_slopes[..., ::-1]
    return attend(given.but(**turned))[:, ::-1]
