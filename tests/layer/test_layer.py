"""Section L: right layers keep every clause, and states and shapes that do not fit are told."""

import numpy as np
import pytest

from implementations.multihead import MultiHead
from spec import about
from spec.certification.target.deviations import known
from spec.clause import Clause
from spec.domain import Scope
from spec.layer.domain import EVERY, LayerProblems
from spec.layer.kind import KIND
from spec.layer.plug import layer
from spec.layer.record import KINDS
from spec.layer.state import mismatch, parameters_of, state_of
from spec.subject import Refused
from tests.attention.draws import drawn
from tests.judging import QUICK, broken, found
from tests.night import deep

CLAUSES = about("layer")
BY_TURNS = ("float64", "float32")


def excused() -> set[str]:
    """What torch's layer is known to break."""
    from torch.nn import MultiheadAttention

    return {*known(KIND.targets, MultiheadAttention, "cpu").reasons}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_a_right_layer_keeps_every_clause(clause: Clause, dtype: str) -> None:
    one = layer(MultiHead, backend="numpy")
    assert clause.binds(one)
    assert found(clause, one, dtype, QUICK).violation is None


@pytest.mark.torch
@pytest.mark.parametrize("dtype", [deep("float64"), "float32"])
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_a_layer_of_torch_keeps_every_clause(clause: Clause, dtype: str) -> None:
    from implementations.multihead_torch import MultiHead as InTorch

    one = layer(InTorch)
    assert clause.binds(one)
    assert found(clause, one, dtype, QUICK).violation is None


@pytest.mark.torch
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_the_layer_that_torch_has(clause: Clause) -> None:
    """In either format; known deviations are strict: each is seen."""
    from torch.nn import MultiheadAttention

    one = layer(MultiheadAttention)
    assert clause.binds(one)
    breaks = [found(clause, one, dtype, QUICK).violation for dtype in ("float64", "float32")]
    assert any(breaks) == (clause.number in excused()), breaks


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
def test_no_false_alarm_in_numpy(seed: int) -> None:
    one = layer(MultiHead, backend="numpy")
    assert not broken(one, BY_TURNS[seed % 2], seed=seed)


@pytest.mark.deep
@pytest.mark.torch
@pytest.mark.parametrize("seed", range(20))
def test_no_false_alarm_in_torch(seed: int) -> None:
    from torch.nn import MultiheadAttention

    from implementations.multihead_torch import MultiHead as InTorch

    dtype = BY_TURNS[seed % 2]
    assert not broken(layer(InTorch), dtype, seed=seed)
    theirs = broken(layer(MultiheadAttention), dtype, seed=seed)
    assert {name.partition("-")[0] for name in theirs} == {*excused()}


@pytest.mark.torch
@pytest.mark.parametrize("dtype", [deep("float16"), "bfloat16"])
@pytest.mark.parametrize("clause", CLAUSES.values(), ids=lambda clause: clause.id)
def test_formats_of_16_bits_keep_every_clause(clause: Clause, dtype: str) -> None:
    from torch.nn import MultiheadAttention

    if clause.number not in excused():
        one = layer(MultiheadAttention, dtypes=(dtype,))
        assert found(clause, one, dtype, QUICK).violation is None


def test_parameters_travel_under_the_names_of_torch() -> None:
    for problem in drawn(LayerProblems(hiding=EVERY), Scope("float64", answers=KINDS), 40):
        there, back = (
            problem.parameters,
            parameters_of(state_of(problem.parameters), like=problem.parameters),
        )
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
    assert found(CLAUSES["L1"], one, "float32", QUICK).violation is not None
