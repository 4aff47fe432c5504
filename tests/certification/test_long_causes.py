"""A correct program whose sums overflow in float16 is told so, and in little memory."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from spec import certify
from spec.attention.mistakes.making import ARITHMETICS
from spec.kinds import KINDS
from spec.laws import CLAUSES
from spec.notation import Array

ATTENTION = KINDS["attention"]
KEYS = 2**16  # as many exponentials of 0 add up beyond the largest number of float16
BUG = "adds_weights_within_65504"
ROUNDS = (ARITHMETICS[0].sentence,)


class Eager:
    """Attention that rounds every step, and takes additive masks for boolean ones.

    largest: the size of its largest matrix of scores.
    """

    largest = 0

    def __call__(
        self, query: Array, key: Array, value: Array, attn_mask: Array | None = None
    ) -> Array:
        scale = query.dtype.type(query.shape[-1] ** -0.5)
        scores = query @ key.swapaxes(-1, -2) * scale
        if attn_mask is not None:
            scores = np.where(attn_mask, scores, -np.inf).astype(query.dtype)
        self.largest = max(self.largest, scores.size)
        top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
        powers = np.exp(scores - np.where(np.isfinite(top), top, 0))
        total = powers.sum(axis=-1, keepdims=True, dtype=query.dtype)
        return powers / np.where(total == 0, 1, total) @ value


def attend(query: Array, key: Array, value: Array) -> Array:
    return Eager()(query, key, value)


def likenesses(fits: Callable[[Any], float]) -> tuple[str, ...]:
    """Of a failure on equal scores of KEYS keys."""
    record, one = ATTENTION.load(attend, backend="numpy"), np.ones((1, 1, 1, 1))
    long = {"q": 0 * one, "k": np.ones((1, 1, KEYS, 1)), "v": np.ones((1, 1, KEYS, 1))}
    problem = ATTENTION.core("float16").but(**long, dout=one)
    return ATTENTION.looks_like((CLAUSES["A1"], CLAUSES["X11"]), record, problem, fits)


def test_a_sum_beyond_float16_is_told_as_rounding_and_not_as_a_known_bug() -> None:
    assert likenesses(lambda _: 1.0) == ROUNDS


@pytest.mark.slow
def test_the_bugs_that_a_failing_clause_must_reject_are_tried_first() -> None:
    (line,) = likenesses(lambda known: known.name == BUG)  # there is no time for all bugs
    assert line.startswith(f"{BUG} ")


@pytest.mark.slow
def test_a_coarser_rounding_is_granted_where_16_bits_alone_are_judged() -> None:
    eager = Eager()
    found = certify(eager, dtypes=("float16",), clauses=("A1", "X11"), isolation="none")
    masks, long = found.causes
    assert "an additive mask" in masks.features
    assert not masks.lens
    assert long.counterexample is not None
    assert not long.lens
    assert long.counterexample.looks_like == ROUNDS
    assert eager.largest < KEYS**2 // 64
