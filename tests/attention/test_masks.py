"""What is drawn for a mask hides what its kind says, the first key included; and multiples."""

import numpy as np
import pytest

from spec import CLAUSES
from spec.attention.masks import BOOLEAN, FORMS, KINDS, LEAVE_QUERIES_IDLE, mask
from spec.attention.options import KINDS as ANSWERS
from spec.certification.judging.drawing import series
from spec.domain import Scope
from spec.notation import Array

SHAPE = (2, 2, 6, 5)
HIDING = ("scattered", "window", "tiles", "tail", "idle")
ADDED = ("additive with holes", "additive tail", "additive idle")


def hidden(kind: str, form: str, seed: int, causal: bool) -> Array:
    """Where a mask of a kind hides a key."""
    drawn = mask(kind, form, seed, SHAPE, "float32", causal=causal)
    return ~drawn if kind in BOOLEAN else np.isneginf(drawn)


@pytest.mark.parametrize("kind", [*HIDING, *ADDED])
def test_the_first_key_is_hidden_as_others_are_where_nothing_else_hides_keys(kind: str) -> None:
    for form in ("B H N M", "N M", "1 M", "B 1 1 M"):
        found = [hidden(kind, form, seed, causal=False) for seed in range(60)]
        assert all(any(x[..., key].any() for x in found) for key in range(SHAPE[3]))


@pytest.mark.parametrize("kind", KINDS)
def test_beside_causality_the_first_key_is_shown_by_all_kinds_but_those_that_say_idle(
    kind: str,
) -> None:
    first = [hidden(kind, "B H N M", seed, causal=True)[..., 0].any() for seed in range(40)]
    assert any(first) == (kind in LEAVE_QUERIES_IDLE)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in LEAVE_QUERIES_IDLE])
def test_no_kind_hides_all_keys_unless_it_says_idle(kind: str) -> None:
    for form in FORMS:
        for seed in range(20):
            assert not hidden(kind, form, seed, causal=False).all(axis=-1).any(), (form, seed)


@pytest.mark.parametrize(
    "multiples", [{"widths": 8}, {"lengths": 16}, {"lengths": 16, "widths": 4}]
)
def test_who_takes_multiples_is_asked_for_multiples_of_its_own_numbers(
    multiples: dict[str, int],
) -> None:
    """Of lengths and of widths, and of nothing else where only one of them is declared."""
    scope = Scope("float32", ANSWERS, multiples=multiples)
    drawn = [*series(CLAUSES["A1"], scope, 80, 0)]
    for name, axes in (("lengths", "NM"), ("widths", "DE")):
        number = multiples.get(name, 1)
        for axis in axes:
            found = {getattr(problem, axis) for problem in drawn}
            assert not {size % number for size in found} - {0}
            assert number > 1 or {1, 2, 3} <= found
