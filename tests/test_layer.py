"""Section L: right layers keep every clause, and every clause rejects the mistakes it names."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from implementations.multihead import MultiHead
from spec.backends import layer
from spec.certification.deviations import known
from spec.certification.running import judged, scope_for
from spec.clause import Clause, Violation
from spec.implementation import Refused
from spec.layer import SECTIONS
from spec.layer.mistakes import MISTAKES
from spec.layer.problems import EVERY, layer_problems
from spec.layer.record import KINDS, Layer
from spec.layer.state import mismatch, parameters_of, state_of
from spec.problems import Scope
from tests.test_problems import drawn

CLAUSES = {c.number: c for s in SECTIONS for c in vars(s).values() if isinstance(c, Clause)}
PAIRS = [(c, name) for c in CLAUSES.values() for name in sorted(c.catches)]
WRONG = [name for name, mistake in MISTAKES.items() if not mistake.harmless]
EXAMPLES = 25  # of the standard profile
BY_TURNS = (("float64",), ("float32",))
NUMPY = {"multihead": MultiHead, **{n: m.build for n, m in MISTAKES.items() if m.harmless}}
TORCH_DEVIATIONS = known("torch.nn:MultiheadAttention", "cpu")


@cache
def made(name: str) -> Layer:
    """A mistake as a layer to be judged."""
    return layer(MISTAKES[name].build, name=name, backend="numpy")


def violation(clause: Clause, one: Layer, dtype: str, seed: int, examples: int) -> Violation | None:
    scope = scope_for(clause, one, dtype, "strict", "standard")
    return judged(clause, one, scope, examples=examples, seed=seed).violation


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
@pytest.mark.parametrize("name", NUMPY)
def test_a_right_layer_keeps_every_clause(name: str, clause: Clause, dtype: str) -> None:
    one = layer(NUMPY[name], backend="numpy")
    assert clause.binds(one)
    assert violation(clause, one, dtype, seed=0, examples=4) is None


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_a_layer_of_torch_keeps_every_clause(clause: Clause, dtype: str) -> None:
    from implementations.multihead_torch import MultiHead as InTorch

    one = layer(InTorch)
    assert clause.binds(one)
    assert violation(clause, one, dtype, seed=0, examples=4) is None


@pytest.mark.torch
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_the_layer_that_torch_has(clause: Clause) -> None:
    """In either format; known deviations are strict: each is seen."""
    from torch.nn import MultiheadAttention

    one = layer(MultiheadAttention)
    assert clause.binds(one)
    broken = [violation(clause, one, d, seed=0, examples=25) for d in ("float64", "float32")]
    assert any(broken) == (clause.number in TORCH_DEVIATIONS), broken


def all_broken(one: Layer, seed: int, dtypes: tuple[str, ...], reach: str) -> list[str]:
    """The clauses that a layer breaks at the standard number of examples."""
    found = []
    for clause in CLAUSES.values():
        for dtype in dtypes:
            scope = scope_for(clause, one, dtype, "strict", reach)
            if judged(clause, one, scope, examples=EXAMPLES, seed=seed).violation is not None:
                found.append(f"{clause.id} {dtype}")
    return found


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
def test_no_false_alarm_in_numpy(seed: int) -> None:
    one = layer(MultiHead, backend="numpy")
    assert not all_broken(one, seed, BY_TURNS[seed % 2], "standard")


@pytest.mark.deep
@pytest.mark.torch
@pytest.mark.parametrize("seed", range(20))
def test_no_false_alarm_in_torch(seed: int) -> None:
    from torch.nn import MultiheadAttention

    from implementations.multihead_torch import MultiHead as InTorch

    dtypes = BY_TURNS[seed % 2]
    assert not all_broken(layer(InTorch), seed, dtypes, "standard")
    theirs = all_broken(layer(MultiheadAttention), seed, dtypes, "standard")
    assert {name.partition("-")[0] for name in theirs} == {*TORCH_DEVIATIONS}


@pytest.mark.torch
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_formats_of_16_bits_keep_every_clause(clause: Clause, dtype: str) -> None:
    from torch.nn import MultiheadAttention

    if clause.number not in TORCH_DEVIATIONS:
        one = layer(MultiheadAttention, dtypes=(dtype,))
        assert violation(clause, one, dtype, seed=0, examples=4) is None


@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=[f"{c.number}-{n}" for c, n in PAIRS])
def test_a_clause_rejects_the_mistakes_it_names(clause: Clause, name: str) -> None:
    assert any(violation(clause, made(name), d, 0, EXAMPLES) for d in MISTAKES[name].dtypes)


@pytest.mark.deep
@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=[f"{c.number}-{n}" for c, n in PAIRS])
def test_a_clause_rejects_them_for_any_seed(clause: Clause, name: str) -> None:
    for seed in range(1, 6):
        assert any(violation(clause, made(name), d, seed, EXAMPLES) for d in MISTAKES[name].dtypes)


def test_every_mistake_is_named_by_some_clause() -> None:
    assert {name for clause in CLAUSES.values() for name in clause.catches} == set(WRONG)


def test_numbers_run_from_one_without_a_gap() -> None:
    numbers = sorted(int(number.removeprefix("L")) for number in CLAUSES)
    assert numbers == list(range(1, len(CLAUSES) + 1))


def test_parameters_travel_under_the_names_of_torch() -> None:
    for problem in drawn(layer_problems(hiding=EVERY), Scope("float64", answers=KINDS), 40):
        there, back = problem.parameters, parameters_of(state_of(problem.parameters))
        assert there.named().keys() == back.named().keys()
        assert all(np.array_equal(x, back.named()[n]) for n, x in there.named().items())


def test_a_state_that_does_not_fit_is_told_in_a_line() -> None:
    want = {"in_proj_weight": (9, 3), "out_proj.weight": (3, 3)}
    assert mismatch(want, want) == ""
    assert "no 'out_proj.weight'" in mismatch({"in_proj_weight": (9, 3)}, want)
    assert "extra 'b'" in mismatch({**want, "b": (3,)}, want)
    wrong = mismatch({**want, "in_proj_weight": (3, 9)}, want)
    assert wrong == "in_proj_weight: got shape (3, 9), want (9, 3)"


@pytest.mark.parametrize("heads", [0, 2])
def test_a_width_that_heads_do_not_divide_is_refused(heads: int) -> None:
    with pytest.raises(ValueError, match=f"5 is not divisible by num_heads {heads}"):
        MultiHead(5, heads)


def test_wrong_widths_and_masks_say_what_was_wanted() -> None:
    one, x = MultiHead(6, 3), np.zeros((2, 5, 6))
    with pytest.raises(ValueError, match=r"key: got shape \(2, 5, 7\), want \(B, length, 6\)"):
        one(x, np.zeros((2, 5, 7)), x)
    with pytest.raises(ValueError, match=r"attn_mask: got shape \(5, 4\), want \(5, 5\)"):
        one(x, x, x, attn_mask=np.zeros((5, 4), dtype=bool))
    with pytest.raises(ValueError, match=r"key_padding_mask: got shape \(5, 2\), want \(2, 5\)"):
        one(x, x, x, key_padding_mask=np.zeros((5, 2), dtype=bool))
    with pytest.raises(ValueError, match=r"extra is not wanted"):
        one.load_state_dict({**one.state_dict(), "extra": x})


def test_a_refusal_of_the_core_is_a_violation() -> None:
    """A layer that raises where nothing was asked of it has broken the clause."""

    def refuses(_: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        raise Refused("no")

    one = layer(MultiHead, backend="numpy").but(forward=refuses)
    assert violation(CLAUSES["L1"], one, "float32", seed=0, examples=4) is not None
