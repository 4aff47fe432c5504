"""Positions: their clauses hold for what is right, and for nothing that is not answered."""

from collections.abc import Callable
from functools import cache
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

import implementations.alibi
import implementations.rotary
import implementations.sinusoidal
from spec import CLAUSES, about
from spec.comparison import Violation
from spec.kinds import KINDS
from spec.mistake import Mistake
from spec.positions import truth
from spec.positions.alibi.plug import linear_bias
from spec.positions.rotary.plug import rotation
from spec.positions.sinusoidal.plug import encoding
from spec.subject import Subject
from tests.judging import QUICK, bound, broken, found
from tests.night import usual

DTYPES = ("float64", "float32", "float16", "bfloat16")
ABOUT = ("sinusoidal", "rotary", "alibi")
CHOICES = [(kind, x) for kind in ABOUT for x in KINDS[kind].mistakes.values() if x.convention]
NUMPY = ("sinusoidal", "rotary", "rotary halves", "alibi")
TORCH = (
    ("sinusoidal module", "rotary torch", "rotary module", "alibi torch")
    if find_spec("torch")
    else ()
)
TRUTH = ("sinusoidal truth", "rotary truth", "alibi truth")
ALL = (*TRUTH, *NUMPY, *TORCH)
CASES = [
    pytest.param(name, dtype, id=f"{name}-{dtype}", marks=[pytest.mark.torch] * (name in TORCH))
    for name in ALL
    for dtype in DTYPES
    if (name in NUMPY, dtype) != (True, "bfloat16")
]


# One format of each, by turns: all of them where it is deep.
TURNS = {name: DTYPES[n % (3 if name in NUMPY else 4)] for n, name in enumerate(ALL)}
USUAL = usual(CASES, lambda name, dtype: dtype == TURNS[name])


@cache
def right(name: str) -> Subject:
    """A right implementation, by name."""
    if name in TORCH:
        from implementations import alibi_torch, rotary_torch, sinusoidal_torch

        made: dict[str, Callable[[], Subject]] = {
            "sinusoidal module": lambda: encoding(sinusoidal_torch.PositionalEncoding),
            "rotary torch": lambda: rotation(rotary_torch.rotate),
            "rotary module": lambda: rotation(rotary_torch.Rotary),
            "alibi torch": lambda: linear_bias(alibi_torch.bias),
        }
    else:
        made = {
            "sinusoidal truth": truth.encoding,
            "rotary truth": truth.rotation,
            "alibi truth": truth.linear_bias,
            "sinusoidal": lambda: encoding(implementations.sinusoidal.encode),
            "rotary": lambda: rotation(implementations.rotary.rotate),
            "rotary halves": lambda: rotation(implementations.rotary.rotate_halves),
            "alibi": lambda: linear_bias(implementations.alibi.bias),
        }
    return made[name]()


@pytest.mark.parametrize(("name", "dtype"), USUAL)
def test_every_clause_holds_for_what_is_right(name: str, dtype: str) -> None:
    subject = right(name)
    for clause in bound(subject):
        finding = found(clause, subject, dtype, QUICK)
        assert finding.violation is None, (clause.id, finding.violation)
        assert finding.refused == 0, (clause.id, finding.refusal)
        assert finding.examples == QUICK * clause.effort


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_there_are_no_false_alarms(name: str, dtype: str, seed: int) -> None:
    assert not broken(right(name), dtype, seed=seed)


def test_every_clause_is_put_to_the_definition() -> None:
    clauses = {c.number for name in TRUTH for c in bound(right(name))}
    assert clauses == {number for kind in ABOUT for number in about(kind)}


@pytest.mark.parametrize(("kind", "mistake"), CHOICES)
def test_another_pairing_is_right_once_it_is_declared(kind: str, mistake: Mistake) -> None:
    assert mistake.convention is not None
    convention, choice = mistake.convention
    load = KINDS[kind].load
    declared = load(mistake.target, backend="numpy", conventions={convention: choice})
    # R28 rotates a part of the columns, and halves of a part are halves of the part
    assert not broken(declared, "float32", QUICK)


def published_module() -> type:
    """A float32 table of 256 positions, as in the published text-classifier."""
    import torch

    class Positional(torch.nn.Module):
        pe: torch.Tensor

        def __init__(self, width: int, length: int = 256) -> None:
            super().__init__()
            pe = torch.zeros(length, width)
            p = torch.arange(length, dtype=torch.float)[:, None]
            theta = torch.exp(torch.arange(0, width, 2).float() * (-np.log(10000.0) / width))
            pe[:, 0::2], pe[:, 1::2] = torch.sin(p * theta), torch.cos(p * theta)
            self.register_buffer("pe", pe)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + self.pe[: x.shape[1]]

    return Positional


@pytest.mark.torch
def test_the_module_of_the_published_classifier_holds() -> None:
    """It refuses longer texts and odd widths, which are not asked of everybody."""
    subject = encoding(published_module(), backend="torch")
    clauses = bound(subject)
    assert {"R1", "R8", "R10"} <= {clause.number for clause in clauses}
    assert "R7" not in {clause.number for clause in clauses}  # it takes no first position
    for dtype in ("float32", "float16", "bfloat16"):
        assert not broken(subject, dtype, QUICK)
    double = found(CLAUSES["R1"], subject, "float64")
    assert double.violation is not None  # a float32 table is no float64 table


def guarded(subject: Subject) -> Subject:
    """The subject, with a violation where it is asked for what it does not answer."""

    def guard(function: Callable[..., Any]) -> Callable[..., Any]:
        def asked(problem: Any) -> Any:
            more = subject.kinds_of(problem) - subject.answers
            if more:
                raise Violation(f"asked for {more}")
            return function(problem)

        return asked

    guarded: Subject = subject.but(**{f: guard(getattr(subject, f)) for f in subject.functions})
    return guarded


@pytest.mark.parametrize("name", TRUTH)
def test_what_is_not_answered_is_not_asked(name: str) -> None:
    whole = right(name)
    for missing in [frozenset({kind}) for kind in whole.answers] + [whole.answers]:
        answers = whole.answers - missing
        subject = guarded(whole.but(answers=answers, differentiates=answers))
        for clause in bound(subject):
            if clause.name != "rotary_rejects_odd_widths":
                finding = found(clause, subject, "float32", QUICK, seed=1)
                assert finding.violation is None, (missing, clause.id, finding.violation)


def test_a_constant_in_a_row_of_a_bias_is_none_of_its_slopes() -> None:
    """A softmax forgets it, so twice the slopes need not be twice the constant."""
    subject = KINDS["alibi"].subjects["lifts_biases_above_zero"]
    assert found(about("alibi")["R33"], subject, "float32").violation is None
