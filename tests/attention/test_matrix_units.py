"""Tensor cores: what their sums lose, who is seen to have one, and TF32, which is declared."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from implementations import einsum
from spec import CLAUSES, certify
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.attention.plug.units import of_sums
from spec.attention.rounding.sums import additions
from spec.certification.target import probing
from spec.formats import FORMATS
from spec.notation import Array
from spec.trial import broken
from tests.night import deep
from tests.targets import tensor_cores as cores

QUICK: dict[str, Any] = {"backend": "numpy", "profile": "quick"}
DECLARED = {"products": "tf32"}
UNITS = (cores.Halves, cores.Nearest, cores.Oldest)


def rows(seed: int) -> Iterator[tuple[Array, Array]]:
    """Factors of 11 bits: of all sizes, of one sign or two, and one large among many small."""
    chance = np.random.default_rng(seed)
    for n in (2, 3, 4, 5, 8, 9, 17, 33, 64, 130):
        x, y = (cores.Halves.shortened(cores.Halves(0), z) for z in chance.standard_normal((2, n)))
        yield x, y
        yield np.abs(x) * 2.0 ** chance.integers(-20, 3, n), np.abs(y)
        small = np.where(np.arange(n) == chance.integers(n), 1, 2.0**-23 * (1 + 255 / 256))
        yield small, np.ones(n)
        yield np.append(small, -1), np.ones(n + 1)


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("seed", range(3))
def test_sums_that_are_cut_off_are_within_lemma_1(unit: type[cores.Core], seed: int) -> None:
    u = FORMATS["float32"].u
    for x, y in rows(seed):
        terms = [Fraction(a) * Fraction(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        got = unit.multiplied(unit(0), x[None], y[:, None]).item()
        most = (sum(map(abs, terms)) + abs(sum(terms))) / 2
        allowed = Fraction(additions(len(terms), cut=True) * u) * most
        assert abs(Fraction(got) - sum(terms)) <= allowed


def one_among_many() -> Problem:
    """A gradient that adds up 1, many numbers that are lost beside it, and -1."""
    dout = np.full((1, 1, 256, 1), 2.0**-9 * (1 + 255 / 256))
    dout[..., (0, -1), 0] = 2.0**14, -(2.0**14)
    zeros = np.zeros((1, 1, 256, 1))
    return Problem(zeros, zeros[:, :, :1], zeros[:, :, :1], dout, dtype="float16")


def test_who_keeps_no_bit_beyond_a_float32_needs_the_grade() -> None:
    problem, record = one_among_many(), implementation(cores.oldest, backend="numpy")
    assert broken(CLAUSES["A4"], record, problem) is not None
    assert broken(CLAUSES["A4"], record, problem.but(products="cut")) is None
    newer = implementation(cores.halves, backend="numpy")
    assert broken(CLAUSES["A4"], newer, problem) is None


@pytest.mark.quick("float16")
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_it_is_seen_who_cuts_sums_off(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "sums", "cut off"
    assert of_sums(implementation(cores.oldest, backend="numpy"), dtype) == dict([name])
    assert of_sums(implementation(einsum.attend), dtype) == {}
    asked: dict[str, Any] = {**QUICK, "dtypes": (dtype,), "clauses": ("A1",), "fail_fast": True}
    assert "sums" not in str(certify(cores.halves, **asked))  # on a CPU nobody is asked
    monkeypatch.setattr(probing, "ROUNDING", ())
    assert f"sums {dtype}=cut off" in str(certify(cores.halves, **asked))
    assert "sums" not in str(certify(einsum.attend, **asked))


# Targets that compute in TF32: their kind, a clause that refuses them, and more such clauses.
TF32 = {
    "nearest": ("attention", "A1", "A"),
    "cut_off": ("attention", "A1", "A"),
    "Layer": ("layer", "L1", "L"),
    "network": ("feed-forward", "F1", "F"),
    "cache": ("cache", "C16", "C"),
    "Dropping": ("dropout", "D1", "D1,D2,D3"),
}
SHORTLY = [(name, few) for name, (_, few, _) in TF32.items()]
AT_LENGTH = [deep(name, many) for name, (_, _, many) in TF32.items()]


@pytest.mark.deep
@pytest.mark.parametrize("name", TF32)
def test_who_computes_in_tf32_keeps_every_clause(name: str) -> None:
    asked: dict[str, Any] = {**QUICK, "kind": TF32[name][0], "dtypes": ("float32",)}
    assert certify(getattr(cores, name), **asked, conventions=DECLARED).passed


@pytest.mark.quick("network*", "Dropping*", "cache*")
@pytest.mark.parametrize(("name", "clauses"), [*SHORTLY, *AT_LENGTH])
def test_tf32_is_certified_if_it_is_declared(name: str, clauses: str) -> None:
    asked: dict[str, Any] = {**QUICK, "dtypes": ("float32",), "clauses": clauses.split(",")}
    asked["kind"], target = TF32[name][0], getattr(cores, name)
    undeclared = certify(target, **asked, fail_fast=True)
    assert not undeclared.passed
    said = " ".join(str(undeclared).split())
    assert "looks like the convention products=tf32: declare it with" in said
    declared = certify(target, **asked, conventions=DECLARED)
    assert declared.passed
    assert declared.conventions["products"] == "tf32"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "clauses"), [*SHORTLY[:1], *(deep(*x) for x in SHORTLY[1:]), *AT_LENGTH]
)
def test_tf32_is_told_by_its_name(name: str, clauses: str) -> None:
    asked: dict[str, Any] = {**QUICK, "dtypes": ("float32",), "clauses": clauses.split(",")}
    found = certify(getattr(cores, name), **asked, kind=TF32[name][0])
    assert "declare it with --convention products=tf32 if it is" in str(found)
    (cause,) = found.causes
    assert cause.sentence == "wherever it was tested, the output is wrong"


@pytest.mark.parametrize(
    ("target", "clauses"),
    [(cores.oldest, ("A1", "A2", "A4")), deep(cores.oldest, None), deep(cores.halves, None)],
)
def test_a_tensor_core_of_16_bits_is_certified(target: Any, clauses: Any) -> None:
    assert certify(target, **QUICK, dtypes=("float16",), clauses=clauses).passed


@pytest.mark.parametrize("name", ["rounds_weights_to_bfloat16", "rounds_scores_to_bfloat16"])
def test_fewer_bits_are_not_taken_for_tf32(name: str) -> None:
    from spec.attention.mistakes import MISTAKES

    found = certify(MISTAKES[name].target, **QUICK, dtypes=("float32",), fail_fast=True)
    assert not found.passed
    assert not any("tf32" in line for line in found.advice)
