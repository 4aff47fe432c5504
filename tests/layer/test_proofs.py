"""Which clauses about the layer are theorems, and what their proofs are run on."""

import numpy as np
import pytest

from spec import about
from spec.layer import moves
from spec.layer.domain import HIDING, IDLE, LIVE
from spec.layer.proofs.examples import SEEDS, example

# No theorems: what a layer is, how it is called, what it remembers.
DEFINED = {"L1", "L4", "L6", "L22", "L33", "L46", "L48", "L50"}
OF_PROGRAMS = {"L5", "L37", "L39", "L40", "L41", "L42", "L43", "L44", "L52"}


def test_every_clause_that_is_a_theorem_has_a_proof() -> None:
    without = {number for number, clause in about("layer").items() if clause.proof is None}

    assert without == DEFINED | OF_PROGRAMS


@pytest.mark.parametrize("kind", HIDING)
def test_examples_are_of_the_kind_that_they_are_asked_for(kind: str) -> None:
    for seed in SEEDS:
        problem = example(seed, (kind,))
        assert (problem.padding is not None) == ("padding" in kind)
        assert (problem.mask is not None) == ("mask" in kind or "bias" in kind)
        assert problem.causal == ("causal" in kind)
        assert kind.startswith("idle") or not moves.idle(problem).any()


def test_examples_are_various() -> None:
    problems = [example(seed) for seed in SEEDS]

    assert {(p.B, p.H, p.D) for p in problems} >= {(2, 3, 4), (2, 3, 1)}
    assert max(p.N for p in problems) == 3
    assert max(p.M for p in problems) == 5
    assert len({p.key.shape[2] for p in problems}) == 3
    assert len(LIVE) < len(SEEDS)


@pytest.mark.parametrize("kind", IDLE)
def test_some_examples_are_idle_in_part(kind: str) -> None:
    idle = np.concatenate([moves.idle(example(seed, (kind,))).ravel() for seed in SEEDS])

    assert idle.any()
    assert not idle.all()


def test_exponentials_of_one_exponent_are_one_unknown() -> None:
    import sympy as sp

    from spec.proving.formulas import residual

    a, b, c = sp.symbols("a b c", real=True)
    one, two = sp.exp((a + b) * c), sp.exp(a * c + b * c)

    assert residual(np.array([one / (one + 1)]), np.array([two / (two + 1)]))[0] == 0
    assert residual(np.array([one]), np.array([sp.exp(a + b)]))[0] != 0
