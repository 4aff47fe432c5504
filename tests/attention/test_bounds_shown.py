"""The bounds that docs/how.md prints are those of its example."""

import re
from pathlib import Path

import numpy as np
import pytest

from spec.attention import rounding
from spec.attention.notation import Problem
from spec.attention.rounding.altogether import bounds
from spec.attention.rounding.arithmetic import C_DIV, C_EXP, C_GAP, C_PRE, C_SCALE, C_TOP, C_WEIGHT

PAGE = (Path(__file__).parents[2] / "docs" / "how.md").read_text()
TABLE = re.findall(r"^\| (\S+) (\S+) \| (\S+) \| (\S+) \|$", PAGE, re.MULTILINE)
UNITS = re.compile(r"(\d+) units of 2⁻²⁴, relative")
PARTS = re.findall(r"^\| (.+) \| (\d+\.\d) \|$", PAGE, re.MULTILINE)
MANY = re.compile(r"a thousand\s+times, .*?\sfloat32 is (\S+)\.", re.DOTALL)


def shown(dtype: str, grade: str) -> Problem:
    """One query of width 1, whose scores are 0, 1 and 2."""
    q, k, v = np.ones((1, 1, 1, 1)), np.arange(3.0), np.array([1.0, 2.0, 4.0])
    k, v = k.reshape(1, 1, 3, 1), v.reshape(1, 1, 3, 1)
    return Problem(q, k, v, np.ones((1, 1, 1, 1)), scale=1.0, dtype=dtype, rounding=grade)


@pytest.mark.parametrize(("dtype", "grade", "bound", "share"), TABLE)
def test_bound_of_the_example(dtype: str, grade: str, bound: str, share: str) -> None:
    problem = shown(dtype, grade)
    o, within = rounding.reference(problem).o.item(), rounding.of_output(problem).item()
    assert f"= {o:.5f}. " in PAGE
    assert (f"{within:.1e}", f"{within / o:.1e}") == (bound, share)


def test_the_table_has_every_format() -> None:
    assert {dtype for dtype, *_ in TABLE} == {"float64", "float32", "float16", "bfloat16"}


def test_units_and_the_fault_of_the_example() -> None:
    problem = shown("float32", "strict")
    o, within = rounding.reference(problem).o.item(), rounding.of_output(problem).item()
    assert UNITS.findall(PAGE) == [f"{within / o * 2**24:.0f}"]
    weights = np.exp(np.arange(3.0) - 2)
    faulty = weights @ [1.0, 2.0, 4.0] / (weights.sum() + 1e-5)
    assert f"off by {o - faulty:.1e} here" in PAGE
    assert within < o - faulty < rounding.of_output(shown("float16", "strict")).item()


def test_the_parts_of_the_bound_in_float32_are_those_of_the_code() -> None:
    """Lemma 3 of `rounding.forward`, term by term, without terms of second order."""
    problem = shown("float32", "strict")
    forward = bounds(problem).forward
    exponents, o, v = forward.weights.exponents, forward.o.item(), forward.v.ravel()
    a, gap, R = (x.ravel() for x in (forward.weights.a, exponents.gap, exponents.R))
    s, u = exponents.scores, 2.0**-24
    moved = a * np.abs(v - o) / o  # by an error of each weight
    found = {
        "scores": (moved * s.eta.ravel() / u).sum(),
        "distance": (moved * C_GAP * gap).sum(),
        "maximum": (moved * C_TOP * s.m.item()).sum(),
        "exponentials": (moved * C_EXP).sum(),
        "rescaling": (moved * C_EXP * R).sum() + (a * R * v).sum() / o + (a * R).sum(),
        "weights": C_WEIGHT,
        "additions of the products": problem.M - 1,
        "additions of the exponentials": problem.M - 1,
        "division": C_DIV,
    }
    whole = rounding.of_output(problem).item() / o / u
    assert sum(found.values()) == pytest.approx(whole, rel=1e-4)
    assert s.eta.ravel() / u == pytest.approx((1 + C_PRE + C_SCALE) * s.s.ravel(), rel=1e-4)
    for (words, number), (word, value) in zip(PARTS, (found | {"all": whole}).items(), strict=True):
        assert word in words
        assert number == f"{value:.1f}", words
    assert sum(round(float(x), 1) for _, x in PARTS[:-1]) == pytest.approx(float(PARTS[-1][1]))
    assert f"by {moved.sum():.2f} of it, and 8 times" in PAGE


def test_the_bound_with_each_key_a_thousand_times() -> None:
    problem = shown("float32", "strict")
    many = problem.but(k=np.repeat(problem.k, 1000, axis=2), v=np.repeat(problem.v, 1000, axis=2))
    assert MANY.findall(PAGE) == [f"{rounding.of_output(many).item():.1e}"]
