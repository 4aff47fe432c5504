"""What a target may choose and be excused of, and nothing beside it."""

import functools
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES
from spec.abilities import unchanged
from spec.attention.conventions import CONVENTIONS, as_chosen
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.backends import Unsuitable
from spec.certification.settings import Request
from spec.certification.target.declared import check_deviations, pairs
from spec.certification.target.deviations import Deviations
from spec.certification.target.following import is_nothing_but
from spec.certification.target.recognising import recognised
from spec.kinds import KINDS
from spec.notation import Array
from tests.certification.made import certificate, verdict


def softmax(s: Array, v: Array) -> Array:
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return np.asarray(e / e.sum(axis=-1, keepdims=True) @ v)


def fills(query: Array, key: Array, value: Array, attn_mask: Array | None = None) -> Array:
    """Whoever sees no key, whatever hides them, gets the mean of all values."""
    s = query @ key.swapaxes(-1, -2) / np.sqrt(query.dtype.type(query.shape[-1]))
    if attn_mask is not None:
        s = np.where(attn_mask, s, -np.inf) if attn_mask.dtype == bool else s + attn_mask
    return softmax(np.where(np.isneginf(s).all(axis=-1, keepdims=True), 0, s), value)


def ends(
    query: Array,
    key: Array,
    value: Array,
    is_causal: bool = False,
    left_window: int | None = None,
    right_window: int | None = None,
) -> Array:
    """The last query is beside the last key, for causality and for windows."""
    s = query @ key.swapaxes(-1, -2) / np.sqrt(query.dtype.type(query.shape[-1]))
    N, M = s.shape[2:]
    ahead = np.arange(M) - np.arange(M - N, M)[:, None]
    right = 0 if is_causal else M + N
    right = right if right_window is None else min(right, right_window)
    left = M + N if left_window is None else left_window
    seen = (-left <= ahead) & (ahead <= right)
    return np.where(seen.any(axis=-1)[:, None], softmax(np.where(seen, s, -1e30), value), 0)


@pytest.mark.parametrize(
    ("target", "found"), [(fills, {"fully-masked": "uniform"}), (ends, {"causal": "bottom-right"})]
)
def test_who_follows_another_convention_is_told_that_one_alone(
    target: Any, found: dict[str, str]
) -> None:
    """Others that go with it as they usually do need not be declared as well."""
    raw = implementation(target, backend="numpy")
    assert recognised(raw, "float64", {}, unchanged).choices == found
    assert recognised(raw, "float64", found, unchanged).choices == {}


@pytest.mark.parametrize("window", CONVENTIONS["window-alignment"])
@pytest.mark.parametrize("slopes", CONVENTIONS["slopes-alignment"])
def test_windows_and_slopes_have_each_the_corner_that_was_chosen_for_them(
    window: str, slopes: str
) -> None:
    said = as_chosen(
        {"window-alignment": window, "slopes-alignment": slopes, "causal": "bottom-right"}
    )
    as_causal = {"as-causal": None}
    assert said["window_corner"] == as_causal.get(window, window)
    assert said["slopes_corner"] == as_causal.get(slopes, slopes)
    assert said["corner"] == "bottom-right"
    assert said.keys() <= Problem.__dataclass_fields__.keys()


@pytest.mark.parametrize("about", KINDS)
def test_the_definition_never_deviates(about: str) -> None:
    number = KINDS[about].definition
    read = pairs("--deviation", [f"{number}=so published"], "CLAUSE=REASON")
    with pytest.raises(
        Unsuitable, match=f"--deviation {number}: the definition of .* cannot be waived"
    ):
        check_deviations(read, CLAUSES, about)
    others = [n for n, clause in CLAUSES.items() if clause.about == about and n != number]
    check_deviations(dict.fromkeys(others, "so published"), CLAUSES, about)


def test_a_declared_deviation_has_to_be_seen_and_one_of_what_is_called_may_be() -> None:
    known = Deviations({"C1": "published"}, strict=()).and_declared({"C2": "it is  so", "C3": "x"})
    assert known.strict == ("C2", "C3")
    assert known.reasons == {"C1": "published", "C2": "declared: it is so", "C3": "declared: x"}


def outcomes(*found: Any, **surveyed: Any) -> dict[str, str]:
    return {v.clause: v.outcome for v in certificate(*found, **surveyed).verdicts}


def test_a_deviation_excuses_its_own_clause_and_no_other() -> None:
    numbers = ("A1", "M1", "M10", "M12", "C1", "C10", "C11")
    broken = [verdict(number, "violated") for number in numbers]
    found = outcomes(*broken, deviations={"M1": "so published", "C10": "so built"})
    assert {n for n, x in found.items() if x == "deviates"} == {"M1", "C10"}
    assert {x for n, x in found.items() if n not in ("M1", "C10")} == {"violated"}


def test_a_deviation_that_nothing_shows_is_a_violation_where_it_has_to_be_seen() -> None:
    held, asked = [verdict("A1", "holds"), verdict("K1", "holds")], Request("mine.py:attend")
    for strict, outcome in ((("K1",), "violated"), ((), "holds")):
        said = {"deviations": {"K1": "so published"}, "strict": strict, "request": asked}
        assert outcomes(*held, **said) == {"A1": "holds", "K1": outcome}


class Known:
    """A layer that is known."""

    def __init__(self, width: int) -> None:
        self.width = width

    def forward(self, x: int) -> int:
        return x

    def __call__(self, x: int) -> int:
        return self.forward(x)


class Built(Known):
    """The same, built otherwise."""

    heads = 3

    def __init__(self) -> None:
        super().__init__(5)

    def another(self) -> int:
        return self.width


class Replaced(Built):
    """Another forward pass, and much else that overrides nothing."""

    note, more = "", 1

    def forward(self, x: int) -> int:
        return x + 1


class Within(Replaced):
    """One that overrides nothing of what it inherits."""


class Given(Known):
    """Another attribute in the place of a method."""

    forward = functools.partialmethod(lambda _, x: x)  # type: ignore[assignment]


def test_a_class_that_replaces_a_method_is_not_what_it_inherits_from() -> None:
    assert is_nothing_but(Known, Known)
    assert is_nothing_but(functools.partial(Built), Known)
    for other in (Replaced, Within, Given):
        assert not is_nothing_but(other, Known)
    assert not is_nothing_but(Known, Built)
