"""A convention is not advised if problems that pass would fail under it; a line says which."""

from typing import Any

import numpy as np
import pytest

from implementations import dense
from implementations.multihead import MultiHead
from spec import certify
from spec.certification.judging.examiner import Examiner
from spec.certification.settings import Request

FEW = {"profile": "quick", "dtypes": ("float32",), "fail_fast": True}


def causal_without_mask(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
    """As the layers of transformers that call torch's function: a mask replaces causality."""
    return dense.attend(query, key, value, attn_mask, attn_mask is None)


def always_causal(query: Any, key: Any, value: Any, attn_mask: Any = None) -> Any:
    """Causal with a mask, too."""
    return dense.attend(query, key, value, attn_mask, is_causal=True)


class CausalWithoutMask(MultiHead):
    """A layer of that kind."""

    def __call__(self, query: Any, key: Any, value: Any, attn_mask: Any = None, **_: Any) -> Any:
        if attn_mask is None:
            attn_mask = ~np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        return super().__call__(query, key, value, attn_mask=attn_mask)


@pytest.mark.parametrize("target", [causal_without_mask, CausalWithoutMask])
def test_a_convention_that_breaks_what_passes_is_not_advised(target: Any) -> None:
    clauses = ("A1",) if target is causal_without_mask else ("L1",)
    found = certify(target, **FEW, clauses=clauses)
    assert found.exit_code == 1
    (line,) = found.advice
    fits = "the convention causality=always fits plain problems, but would make others fail"
    assert line.startswith(f"{fits} that pass now: a boolean mask, an additive mask")
    assert line in " ".join(str(found).split())
    assert "--convention" not in str(found)


def test_a_convention_that_breaks_nothing_is_advised() -> None:
    (line,) = certify(always_causal, **FEW, clauses=("A1",)).advice
    assert line.startswith("looks like the convention causality=always: declare it with ")


def test_no_cause_is_corrected_by_a_convention_that_breaks_what_passes() -> None:
    for target, choices in ((causal_without_mask, {}), (always_causal, {"causality": "always"})):
        found = Examiner.of(target, Request(dtypes=("float32",)))
        assert found.recognised.choices == choices
