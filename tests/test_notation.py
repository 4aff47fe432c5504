"""What all problems are made of: attributes that are computed once, and lengths."""

import numpy as np
import pytest

from spec.attention.notation import Problem
from spec.notation import once


class Counted:
    """Counts how often its number is computed."""

    computed = 0

    @once
    def number(self) -> int:
        """A number."""
        self.computed += 1
        return self.computed


def test_an_attribute_is_computed_once_for_each_record() -> None:
    one, other = Counted(), Counted()
    assert [one.number, one.number, other.number, one.computed] == [1, 1, 1, 1]
    assert Counted.number.__doc__ == "A number."


def problem(keys: int) -> Problem:
    """Six heads that share three, of two queries."""
    shapes = (1, 6, 2, 4), (1, 3, keys, 4), (1, 3, keys, 7), (1, 6, 2, 7)
    return Problem(*map(np.zeros, shapes))


def test_a_problem_that_is_made_of_another_has_lengths_of_its_own() -> None:
    before = problem(5)
    assert [getattr(before, x) for x in "BHGNMDE"] == [1, 6, 3, 2, 5, 4, 7]
    after = before.but(k=before.k[:, :, :3], v=before.v[:, :, :3])
    assert (before.M, after.M, after.N) == (5, 3, 2)


def test_nobody_writes_through_a_problem() -> None:
    k = np.ones((1, 3, 5, 4))
    asked = problem(5).but(k=k)
    for again in (asked, asked.but(causal=True), asked.part("M", [0, 2])):
        with pytest.raises(ValueError, match="read-only"):
            again.k[...] = 0
    k[...] = 2  # whose it is may
