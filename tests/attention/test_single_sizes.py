"""A fault at a single length, width or number of heads has nowhere to hide."""

import pytest

from spec import CLAUSES, certify
from spec.attention.options import KINDS, Capability
from spec.certification.judging.drawing import series
from spec.domain import Scope
from spec.notation import DTYPES
from spec.sizes import EACH, EACH_WIDTH, MOST
from tests.judging import EXAMPLES, found
from tests.night import deep
from tests.single_sizes import Fault, faults

MADE = faults(14)
DEFAULT = 5  # so many of them by default
EVERY = {*EACH, *((axis, size) for axis in "DE" for size in EACH_WIDTH)}


@pytest.mark.parametrize("number", ["A11", "A12", "A13"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_standard_profile_meets_every_size(number: str, dtype: str) -> None:
    clause, scope = CLAUSES[number], Scope(dtype, KINDS)
    for seed in range(2):
        problems = [*series(clause, scope, EXAMPLES * clause.effort, seed)]
        met = {(axis, getattr(p, axis)) for p in problems for axis in (*MOST, *"DE")}
        assert not EVERY - met
        assert any(p.G < p.H for p in problems)


def test_what_is_not_answered_is_not_drawn() -> None:
    clause, count = CLAUSES["A11"], 60
    one = Scope("float32", KINDS - {Capability.SEVERAL, Capability.GROUPS, Capability.QUERIES})
    assert {(p.B, p.H, p.G, p.N) for p in series(clause, one, count, 0)} == {(1, 1, 1, 1)}
    alike = Scope("float32", KINDS - {Capability.LENGTHS, Capability.WIDTHS})
    assert all((p.N, p.D) == (p.M, p.E) for p in series(clause, alike, count, 0))
    tiled = Scope("float32", KINDS, multiples={"lengths": 16, "widths": 8})
    for p in series(clause, tiled, count, 0):
        assert {p.N % 16, p.M % 16, p.D % 8, p.E % 8} == {0}


@pytest.mark.quick("H*", "D*", "M-115*", "M-41*")
@pytest.mark.parametrize(
    "fault",
    [*MADE[:DEFAULT], *map(deep, MADE[DEFAULT:])],
    ids=lambda x: f"{x.axis}-{x.size}-{x.step}",
)
def test_a_fault_at_a_single_size_is_refused(fault: Fault) -> None:
    clause = CLAUSES["A12" if fault.gradient else "A11"]
    assert found(clause, fault.subject(), "float32").violation


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        deep("loses_a_key_at_one_length", "where M = 37, the output is wrong"),
        ("mixes_up_heads_if_there_are_five", "where G = 5, the output is wrong"),
    ],
)
def test_a_single_size_is_told(name: str, sentence: str) -> None:
    target = f"spec.attention.mistakes.single_sizes:{name}"
    certificate = certify(target, clauses=("A1", "A11"), dtypes=("float32",))
    (cause,) = certificate.causes
    assert cause.sentence == sentence
    assert certificate.region.passed
