"""Problems with planted weights: how long they are, and that each planted key or query shows."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from implementations.dense import attend
from spec import CLAUSES, certify
from spec.attention import rounding
from spec.attention.notation import Problem
from spec.attention.options import KINDS, Capability
from spec.attention.planted import Planted, places
from spec.attention.plug import implementation
from spec.attention.record import USUAL
from spec.certification.judging.drawing import series
from spec.certification.ledger.comparison import compared
from spec.domain import Scope
from spec.formats import rounded
from spec.notation import DTYPES, Array
from spec.sizes import LONGEST, Reach
from spec.stream import Stream
from tests.judging import EXAMPLES, QUICK, found
from tests.shell import run

Attend = Callable[[Array, Array, Array], Array]
LONG = ("X11", "X12", "X13", "X14", "X15")
PROBLEMS = {"small": QUICK, "quick": QUICK, "standard": EXAMPLES, "deep": 50}


def drawn(number: str, reach: Reach, dtype: str = "float32", **scope: Any) -> list[Problem]:
    """As many problems of a clause as a profile has."""
    asked = Scope(dtype, **{"answers": KINDS, "reach": reach, **scope})
    return [*series(CLAUSES[number], asked, PROBLEMS[reach], 0)]


def ending(last: int) -> Attend:
    """Attention to so many keys at most."""
    return lambda query, key, value: attend(query, key[:, :, :last], value[:, :, :last])


def repeating(last: int) -> Attend:
    """Attention that counts twice all keys after so many."""

    def twice(query: Array, key: Array, value: Array) -> Array:
        k, v = (np.concatenate([x, x[:, :, last:]], axis=2) for x in (key, value))
        return attend(query, k, v)

    return twice


@pytest.mark.parametrize("reach", ["small", "quick", "standard"])
@pytest.mark.parametrize(("number", "axis"), [("X12", "M"), ("X15", "N")])
def test_the_first_problem_is_the_longest(number: str, axis: str, reach: Reach) -> None:
    most, _ = LONGEST[reach]
    lengths = [getattr(problem, axis) for problem in drawn(number, reach)]
    assert lengths[0] == most + 1
    assert max(lengths[1:]) <= most
    assert len({*lengths}) > len(lengths) / 2


def test_wide_heads_and_multiples_are_kept_to() -> None:
    wide = drawn("X11", "quick", multiples={"lengths": 64, "widths": 128})
    assert all(p.M % 64 == 0 and p.D % 128 == 0 and p.N == 1 for p in wide)
    assert max(p.M for p in wide) == 2**9 + 64  # an eighth of the usual number of keys


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", ["X11", "X14"])
def test_numbers_are_of_the_format(number: str, dtype: str) -> None:
    for problem in drawn(number, "quick", dtype):
        for x in (problem.q, problem.k, problem.v, problem.dout):
            assert (rounded(x, dtype) == x).all()


def test_causal_queries_come_last() -> None:
    last = drawn("X11", "quick", conventions={"causal": "bottom-right"})
    assert {p.causal for p in drawn("X11", "quick")} == {False}
    assert {p.causal for p in last} == {False, True}
    always = drawn("X11", "quick", answers=KINDS - {Capability.FUTURE})
    assert all(p.causal for p in always)


def test_the_first_and_the_last_are_planted() -> None:
    for seed in range(20):
        for length in (1, 2, 9, 4097):
            found = places(Stream(seed), length)
            assert {*found} >= {0, length - 1}
            assert found.max() < length


@pytest.mark.parametrize("reach", ["quick", pytest.param("standard", marks=pytest.mark.slow)])
def test_each_planted_key_shows_by_far(reach: Reach) -> None:
    problem = next(x for x in drawn("X11", reach) if x.M > 1000)
    planted = np.flatnonzero(np.abs(problem.v[0, 0, :, 0]) > 1)
    assert {*planted} >= {0, problem.M - 1}
    bound = rounding.of_output(problem)[..., 0, :]
    for key in planted:
        without = problem.part("M", np.delete(np.arange(problem.M), key))
        twice = problem.part("M", np.append(np.arange(problem.M), key))
        for other in (without, twice):
            moved = rounding.reference(other).o - rounding.reference(problem).o
            assert (np.abs(moved[..., 0, :]) > 4 * bound).any()


@pytest.mark.parametrize("wrong", [ending, repeating])
def test_a_fault_beyond_any_length_is_rejected(wrong: Callable[[int], Attend]) -> None:
    """At any power of two, and at others, below the longest of the profile."""
    most, _ = LONGEST["quick"]
    others = [int(2 ** (11 * Stream(n).random())) + 1 for n in range(12)]
    for last in (*(2**n for n in range(13)), *others, most - 1):
        subject = implementation(wrong(last), backend="numpy")
        assert found(CLAUSES["X11"], subject, "float32", QUICK, reach="quick").violation, last


@pytest.mark.slow
@pytest.mark.parametrize("reach", ["standard", pytest.param("deep", marks=pytest.mark.deep)])
def test_a_fault_beyond_many_keys_is_rejected(reach: Reach) -> None:
    most, _ = LONGEST[reach]
    others = [int(most ** Stream(n).random()) for n in range(20)]
    for last in (2**13, 65535, 65536, most - 1, most, *others):
        for wrong in (ending, repeating):
            subject = implementation(wrong(last), backend="numpy")
            count = PROBLEMS[reach]
            assert found(CLAUSES["X11"], subject, "float32", count, reach=reach).violation, last


def limited(query: Array, key: Array, value: Array) -> Array:
    """Raises an exception for more than 3000 tokens, and is right about all others."""
    if max(query.shape[2], key.shape[2]) > 3000:
        raise ValueError("at most 3000 tokens")
    return attend(query, key, value)


def short(query: Array, key: Array, value: Array) -> Array:
    """Raises an exception for more than 1000 tokens."""
    if max(query.shape[2], key.shape[2]) > 1000:
        raise ValueError("at most 1000 tokens")
    return attend(query, key, value)


def test_a_longest_sequence_is_no_failure_and_is_told() -> None:
    few: dict[str, Any] = {"dtypes": "float32", "profile": "quick"}
    certificate = certify(limited, clauses=("X11", "X14"), **few)
    assert certificate.passed
    assert max(certificate.largest["N"], certificate.largest["M"]) <= 3000
    assert "at most 3000 tokens" in str(certificate)
    subject = implementation(short, backend="numpy")
    assert found(CLAUSES["X8"], subject, "float32", QUICK, reach="quick").violation


def test_a_certificate_says_how_large_problems_were(tmp_path: Path) -> None:
    few: dict[str, Any] = {"dtypes": "float32", "profile": "quick"}
    long, usual = (certify(attend, clauses=(x,), **few) for x in ("X11", "V2"))
    assert long.largest["M"] == LONGEST["quick"][0] + 1
    assert f"largest       N={long.largest['N']}, M=4097, D=" in str(long)
    assert f"largest M: {usual.largest['M']} -> 4097" in compared(usual, long)
    assert usual.largest["M"] <= USUAL
    files = [str(tmp_path / f"{name}.json") for name in "abc"]
    for file, one in zip(files, (long, usual, usual), strict=True):
        one.save(file)
    shown = run("compare", *files).stdout
    assert [line for line in shown.splitlines() if "largest: N=" in line and "M=4097, " in line]


@pytest.mark.parametrize("along", ["keys", "queries"])
def test_who_takes_equal_lengths_alone_is_not_asked(along: Any) -> None:
    assert Capability.LENGTHS in Planted(along=along).needs
    assert (Capability.QUERIES in Planted(along=along).needs) == (along == "queries")
