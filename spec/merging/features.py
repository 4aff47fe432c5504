"""The words for two partial results (states). Sizes are compared by the letters of their axes."""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from spec.features import FORMATS, Feature, Vocabulary
from spec.meanings import HEADS
from spec.merging.notation import Problem
from spec.notation import Array


def live(p: Problem) -> tuple[Array, Array]:
    """Where each of the states is live.   two of (B, H, N)"""
    return np.logical_not(p.empty[0]), np.logical_not(p.empty[1])


def both(p: Problem) -> Array:
    """Where both states are.   (B, H, N)"""
    return live(p)[0] & live(p)[1]


def gap(p: Problem) -> Array:
    """|lse_1 - lse_2| of two live states, else 0.   (B, H, N)"""
    with np.errstate(invalid="ignore"):
        return np.where(both(p), np.abs(p.lse_1 - p.lse_2), 0.0)


def tops(p: Problem) -> Array:
    """The larger log-sum-exps, of rows that have a live state."""
    top = np.maximum(p.lse_1, p.lse_2)
    return top[np.isfinite(top)]


def _apart(limit: float, p: Problem) -> bool:
    return bool((gap(p) > limit).any())


def _uneven_within(limit: float, p: Problem) -> bool:
    far = np.maximum(np.abs(p.lse_1), np.abs(p.lse_2))
    return bool(((gap(p) > 0) & (far <= limit)).any())


def _beyond(limit: float, p: Problem) -> bool:
    return any((np.abs(x[np.isfinite(x)]) > limit).any() for x in (p.lse_1, p.lse_2))


def _in_empty(test: Callable[[Array], Array], p: Problem) -> bool:
    pairs = zip((p.o_1, p.o_2), p.empty, strict=True)
    return any(test(o[empty]).any() for o, empty in pairs)


WORDS: Mapping[str, Feature] = {
    "an empty state": lambda p: p.empty[0].any() or p.empty[1].any(),
    "two empty states": lambda p: (p.empty[0] & p.empty[1]).any(),
    "two nonempty states": lambda p: both(p).any(),
    "a nonempty state": lambda p: live(p)[0].any() or live(p)[1].any(),
    "an empty state with a nonempty one": lambda p: (p.empty[0] ^ p.empty[1]).any(),
    "an empty first state with a nonempty one": lambda p: (p.empty[0] & live(p)[1]).any(),
    "an empty second state with a nonempty one": lambda p: (p.empty[1] & live(p)[0]).any(),
    "numbers in an empty state": partial(_in_empty, lambda x: x != 0),
    "a NaN in an empty state": partial(_in_empty, lambda x: ~np.isfinite(x)),
    "states that differ": partial(_apart, 0),
    "states that differ within 2000": partial(_uneven_within, 2000),
    "states 8 apart": partial(_apart, 8),
    "rows 8 apart": lambda p: np.ptp(tops(p)) > 8 if tops(p).size else False,
    "log-sum-exps beyond 80": partial(_beyond, 80),
    "log-sum-exps below -30000": lambda p: (tops(p) < -30000).any(),
    "a cotangent of lse": lambda p: p.dlse[live(p)[0] | live(p)[1]].any(),
    **FORMATS,
}
FREQUENT = ("a cotangent of lse",)

MEANINGS: Mapping[str, str] = {
    **HEADS,
    "N": "the number of queries",
    "E": "the width of a value",
    "an empty state": "a partial result has no key: its log-sum-exp is -inf",
    "two empty states": "both partial results of a row have no key",
    "two nonempty states": "both partial results of a row have keys",
    "a nonempty state": "a partial result has keys",
    "an empty state with a nonempty one": "of two partial results of a row, one has keys",
    "an empty first state with a nonempty one": "only the second partial result of a row has keys",
    "an empty second state with a nonempty one": "only the first partial result of a row has keys",
    "numbers in an empty state": "the output of an empty partial result is not 0",
    "a NaN in an empty state": "the output of an empty partial result is NaN or infinite",
    "states that differ": "the two log-sum-exps of a row differ",
    "states that differ within #": "the two log-sum-exps of a row differ, and lie within # of 0",
    "states # apart": "the two log-sum-exps of a row differ by more than #",
    "rows # apart": "the larger log-sum-exps of two rows differ by more than #",
    "log-sum-exps beyond #": "a finite log-sum-exp is above # or below -#",
    "log-sum-exps below #": "the larger log-sum-exp of a row is below #",
    "a cotangent of lse": "gradients flow through the log-sum-exp of a row with keys",
}

VOCABULARY = Vocabulary(WORDS, "BHNE", (("H", "N"), ("B", "H")), frequent=FREQUENT)
