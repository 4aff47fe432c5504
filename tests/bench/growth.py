"""How the cost of a certificate grows: with problems, with keys, and with clauses."""

import time
from collections.abc import Iterator
from functools import partial

import numpy as np

from implementations import dense
from spec import CLAUSES, about, certify
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.formats import rounded
from spec.trial import tried
from tests.bench.measured import Measured, Value, one, timed

DENSE = "implementations.dense:attend"


def growth() -> Iterator[Measured]:
    """Of our dense NumPy attention, in float32."""
    yield from _problems()
    yield from _keys()
    yield from _clauses()


def _problems() -> Iterator[Measured]:
    for profile in ("quick", "standard"):
        start = time.perf_counter()
        found = certify(DENSE, dtypes=("float32",), profile=profile)
        taken, count = time.perf_counter() - start, sum(v.examples for v in found.verdicts)
        values = Value(count, "problems"), Value(1000 * taken / count, "ms each")
        yield Measured(f"our dense NumPy attention, float32, {profile}", values)


def _keys() -> Iterator[Measured]:
    """One problem, its output compared: definition and error bounds cost more as the call does."""
    subject = implementation(dense.attend, dtypes=("float32",))
    for M in (16, 128, 1024):
        problem = _problem(M)

        def compare(problem: Problem = problem) -> None:
            tried(CLAUSES["A1"], subject, problem.but())  # of a copy nothing is known

        compared = timed(compare)
        answered = timed(partial(subject.forward, problem))
        values = Value(1000 * compared, "ms"), Value(compared / answered, "times the call")
        yield Measured(f"A1 on one problem of 32 queries and {M} keys", values)


def _problem(M: int) -> Problem:
    """Two heads of normal numbers, of width 32."""
    chance = np.random.default_rng(0)
    shapes = ((1, 2, length, 32) for length in (32, M, M, 32))
    q, k, v, dout = (rounded(chance.standard_normal(shape), "float32") for shape in shapes)
    return Problem(q, k, v, dout, dtype="float32")


def _clauses() -> Iterator[Measured]:
    numbers = [number for number, clause in about("attention").items() if clause.force == "must"]
    for count in (1, 10, 100):
        start = time.perf_counter()
        certify(DENSE, dtypes=("float32",), profile="quick", clauses=numbers[:count])
        what = f"our dense NumPy attention, float32, quick, clauses: {count}"
        yield one(what, time.perf_counter() - start, "s")
