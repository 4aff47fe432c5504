"""What all problems are made of: attributes that are computed once, lengths, and records."""

import numpy as np
import pytest

from spec.attention.contents import Conventions, Inputs, Options, Placement
from spec.attention.notation import Problem
from spec.notation import Posed, names, once

RECORDS = (Posed, Inputs, Options, Conventions, Placement)


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


def test_each_field_is_one_of_a_record_and_saved_in_their_order() -> None:
    assert [*names(Problem)] == [name for record in RECORDS for name in names(record)]


def test_what_is_of_one_record_is_handed_on_and_nothing_else() -> None:
    asked = problem(5).but(causal=True, softcap=0.5, corner="bottom-right", page=2, seed=3)
    other = problem(6).but(**asked.only(Options), **asked.only(Posed))
    assert asked.only(Options) == vars(Options(causal=True, softcap=0.5)) == other.only(Options)
    assert asked.only(Posed) == vars(Posed(seed=3)) == other.only(Posed)
    assert other.only(Conventions) == vars(Conventions())
    assert (other.only(Placement), other.M) == (vars(Placement()), 6)
