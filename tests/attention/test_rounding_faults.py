"""Budgets reject wrong computations: a right one with a fault at a named place.

Rounding faults are small: whether they show depends on the problem, so each has the least
share of problems on which it must be seen.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from spec.formats import rounded
from spec.notation import Array, Grade
from tests.attention.budget_shares import worst
from tests.attention.machine import STYLES, Machine
from tests.attention.rounding_problems import problem_of
from tests.night import deep


def to(dtype: str) -> Callable[[Array], Array]:
    return lambda x: rounded(x.astype(np.float64), dtype)


def truncated(x: Array) -> Array:
    """The leading 16 bits of a float32: a bfloat16 that was cut and not rounded."""
    return (x.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


@dataclass(frozen=True)
class Fault:
    """What is done at a place, in which style, and on how many problems in a hundred it shows.

    shows: in float32 strict, bfloat16 strict, float16 strict and bfloat16 flash, at least.
    """

    place: str
    spoil: Callable[[Array], Array]
    style: str
    shows: tuple[int, int, int, int]


JUDGED: list[tuple[str, Grade]] = [
    ("float32", "strict"),
    ("bfloat16", "strict"),
    ("float16", "strict"),
    ("bfloat16", "flash"),
]


FAULTS: dict[str, Fault] = {
    "scores in bfloat16": Fault("s", to("bfloat16"), "textbook", (59, 51, 57, 51)),
    "scores in float16": Fault("s", to("float16"), "textbook", (59, 51, 51, 51)),
    "scale in bfloat16": Fault("scale", to("bfloat16"), "textbook", (44, 32, 30, 28)),
    "weights in bfloat16": Fault("p", to("bfloat16"), "textbook", (56, 51, 57, 0)),
    "weights in float16": Fault("p", to("float16"), "textbook", (56, 38, 43, 0)),
    "sum + 1e-5": Fault("L", lambda x: x + 1e-5, "textbook", (72, 51, 52, 9)),
    "sum + 1e-6": Fault("L", lambda x: x + 1e-6, "textbook", (57, 9, 11, 9)),
    "tiles in bfloat16": Fault("tile", to("bfloat16"), "tiles of 3", (80, 51, 67, 8)),
    "output truncated": Fault("o", truncated, "textbook", (80, 56, 68, 11)),
    "no row term": Fault("delta", np.zeros_like, "textbook", (76, 75, 68, 73)),
    "row term in bfloat16": Fault("delta", to("bfloat16"), "textbook", (76, 0, 54, 0)),
    "lse in bfloat16": Fault("lse", to("bfloat16"), "exp2", (76, 67, 72, 40)),
    "lse in float16": Fault("lse", to("float16"), "exp2", (76, 49, 62, 25)),
    "ds in bfloat16": Fault("ds", to("bfloat16"), "textbook", (59, 16, 43, 0)),
    "ds in float16": Fault("ds", to("float16"), "textbook", (65, 28, 19, 27)),
    "da in bfloat16": Fault("da", to("bfloat16"), "textbook", (62, 32, 36, 0)),
    "dk not scaled": Fault("dk", np.ones_like, "textbook", (52, 44, 36, 44)),
}


def shown(fault: Fault, dtype: str, grade: Grade, problems: int) -> float:
    """The share of problems, in a hundred, on which a budget is exceeded."""
    seen = 0
    with np.errstate(all="ignore"):
        for seed in range(problems):
            problem = problem_of(seed, dtype, grade)
            machine = Machine(problem, STYLES[fault.style], {fault.place: fault.spoil})
            seen += max(worst(problem, machine).values()) > 1
    return 100 * seen / problems


@pytest.mark.parametrize("at", [0, deep(1), deep(2), 3])  # the narrowest budgets, the widest
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_exceeds_budgets_at_least_this_often(name: str, at: int) -> None:
    share = shown(FAULTS[name], *JUDGED[at], 50)
    assert share >= FAULTS[name].shows[at], share
