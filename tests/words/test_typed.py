"""Records held to the types of their fields."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pytest

from spec.notation import Array
from spec.typed import Misfit, typed


@dataclass(frozen=True)
class Inner:
    count: int


@dataclass(frozen=True)
class Outer:
    word: str = ""
    share: float = 0.0
    flag: bool = False
    choice: Literal["a", 2] = "a"
    pair: tuple[int, str] = (1, "")
    words: tuple[str, ...] = ()
    named: Mapping[str, float] | None = None
    x: Array | None = None
    inner: Inner | None = None
    anything: Any = None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"share": 1, "choice": 2, "pair": (0, "x"), "words": ("x", "y"), "named": {"x": 1}},
        {"x": np.zeros(2), "inner": Inner(1), "anything": Inner(1)},
    ],
)
def test_what_fits_is_returned(fields):
    record = Outer(**fields)
    assert typed(record) is record


@pytest.mark.parametrize(
    "fields",
    [
        {"word": 1},
        {"word": None},
        {"share": "nan"},
        {"share": True},
        {"flag": 1},
        {"choice": "b"},
        {"choice": 2.0},
        {"choice": []},
        {"pair": (1,)},
        {"pair": ("", 1)},
        {"pair": [1, ""]},
        {"words": ("x", 1)},
        {"words": "xy"},
        {"named": {"x": "y"}},
        {"named": {1: 1.0}},
        {"x": [0.0]},
        {"inner": {"count": 1}},
        {"inner": Inner("1")},
        {"anything": Inner(1.0)},
    ],
)
def test_what_does_not_fit_is_said_by_its_field(fields):
    (name,) = fields
    with pytest.raises(Misfit, match=f"^({name} of a Outer|count of a Inner) is of another type$"):
        typed(Outer(**fields))
