"""A single request as FlashInfer has it: `--api FlashInfer`."""

from functools import partial
from typing import Any

import numpy as np
import pytest

from spec import certify
from spec.attention.contents import UNBOUNDED
from spec.attention.options import CAUSAL, MASK, Capability, together
from spec.attention.plug import implementation
from spec.attention.plug.trials import core, square
from spec.certification.judging.apart import Apart
from spec.subject import Refused
from tests.targets import spelled

SAYS: dict[str, Any] = {"api": "FlashInfer", "dtypes": ("float32",), "profile": "quick"}
SEEN = np.arange(16).reshape(4, 4) % 3 > 0
record = partial(implementation, backend="numpy", layout="lhd", spelling="FlashInfer")


def keywords(name: str, **changes: Any) -> Any:
    """What a parameter of this name gets."""
    function = eval(f"lambda q, k, v, causal=False, {name}=None: 0")
    signature = record(function).forward.__self__.signature  # type: ignore[attr-defined]
    problem = square("float32", B=1).but(**changes)
    return signature.keywords(problem, {"mask": "x"}).get(name)


def test_a_single_request_is_certified_with_its_windows_and_masks() -> None:
    found = certify(spelled.single_prefill, **SAYS, clauses=("A1", "A7", "C1", "W6", "M19"))
    assert found.passed, str(found)
    assert {v.clause for v in found.verdicts if v.outcome == "holds"} >= {"A7", "C1", "W6", "M19"}
    assert "judged with --layout lhd" in str(found)
    assert not {"window_left", "custom_mask"} & {*str(found).replace(",", " ").split()}


@pytest.mark.parametrize(
    ("name", "clause"),
    [("natural_prefill", "A7"), ("heads_first_prefill", "A7"), ("window_of_one_less", "W6")],
)
def test_another_one_is_refused(name: str, clause: str) -> None:
    found = certify(getattr(spelled, name), **SAYS, clauses=("A1", clause), fail_fast=True)
    assert not found.passed
    assert clause in {v.clause for v in found.verdicts if v.outcome == "violated"}


@pytest.mark.parametrize(
    ("window", "causal", "left"),
    [((2, None), False, 2), ((2, 0), True, 2), ((None, 3), True, -1), ((0, None), True, 0)],
)
def test_a_left_bound_says_a_window(window: Any, causal: bool, left: int) -> None:
    assert keywords("window_left", window=window, causal=causal) == left
    assert keywords("window_left", window=UNBOUNDED) is None


def test_a_left_bound_does_not_say_a_right_one() -> None:
    with pytest.raises(Refused, match="a left bound describes no window with a right bound"):
        keywords("window_left", window=(2, 0))


@pytest.mark.parametrize("mask", [SEEN, SEEN[None, None], SEEN[:, :1], SEEN[None, :1]])
def test_a_custom_mask_is_written_out_for_queries_and_keys(mask: Any) -> None:
    wrapped = record(spelled.single_prefill).forward.__self__  # type: ignore[attr-defined]
    found = wrapped.native(square("float32", B=1, mask=mask), "mask")
    np.testing.assert_array_equal(found, np.broadcast_to(mask.reshape(mask.shape[-2:]), (4, 4)))


def test_a_custom_mask_is_no_mask_of_heads_and_does_not_join_causality() -> None:
    found = record(spelled.single_prefill)
    assert not {Capability.BIAS, Capability.MIXED, together(MASK, CAUSAL)} & found.answers
    assert {Capability.MASK, Capability.FORMS} <= found.answers
    with pytest.raises(Refused, match="a custom mask is boolean and"):
        found.forward(square("float32", B=1, mask=np.ones((3, 4, 4), dtype=bool)))


def test_a_program_of_its_own_is_asked_for_what_a_layout_has_an_axis_for() -> None:
    """Small problems have two sequences, and are put to this one as one sequence."""
    apart: Any = Apart(record(spelled.single_prefill), {}, None, None, None)  # type: ignore[arg-type]
    assert apart._is_answered(core("float32", N=0))
