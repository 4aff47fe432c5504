"""Queries that causality alone masks fully: the convention for them is found without masks."""

from typing import Any

import numpy as np
import pytest

from spec import certify
from spec.certification.as_tests import runs
from spec.certification.failed_tests import explained
from spec.certification.ledger.certificate import Certificate

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float64",), "clauses": "A1,C4"}
CAUSAL, NAN = {"causal": "bottom-right"}, {"fully-masked": "nan"}
BOTH = "--convention causal=bottom-right --convention fully-masked=nan"


def aligned(query: Any, key: Any, value: Any, is_causal: bool = False) -> Any:
    """Causality aligned with the last key; 0 / 0 for a query that attends to none."""
    s = query @ key.swapaxes(-1, -2) * query.shape[-1] ** -0.5
    N, M = s.shape[-2:]
    if is_causal:
        s = np.where(np.tri(N, M, M - N, dtype=bool), s, -np.inf)
    top = s.max(-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isinf(top), 0, top))
    if not M:
        return np.zeros((*query.shape[:-1], value.shape[-1]))
    with np.errstate(all="ignore"):
        return e / e.sum(-1, keepdims=True) @ value


@pytest.fixture(scope="module")
def undeclared() -> Certificate:
    return certify(aligned, **FEW)


@pytest.mark.slow
def test_one_cause_names_both_conventions_where_both_are_needed(undeclared: Certificate) -> None:
    (cause,) = undeclared.causes
    assert cause.lens == (
        "correct under the conventions causal=bottom-right and fully-masked=nan: declare them with "
        f"{BOTH} if they are meant"
    )
    text = " ".join(str(undeclared).split())
    assert text.count(BOTH) == 1
    assert cause.counterexample is not None
    aligned_alone, masked = cause.counterexample.apiece
    assert aligned_alone.startswith("without causal=bottom-right: at (")
    assert "nan" not in aligned_alone, "where each query sees a key, causality is what differs"
    assert masked.startswith("without fully-masked=nan: at (0, 0, 0, 0): got nan, want 0 within")
    assert f" {masked} " in text
    assert "looks like the convention" not in text


@pytest.mark.slow
def test_the_second_is_found_once_the_first_is_declared() -> None:
    found = certify(aligned, **FEW, conventions=CAUSAL)
    assert [cause.lens.partition(":")[0] for cause in found.causes] == [
        "correct under the convention fully-masked=nan"
    ]
    assert certify(aligned, **FEW, conventions=CAUSAL | NAN).passed


@pytest.mark.slow
def test_in_python_both_are_one_argument() -> None:
    failed = {run.id: run for run in runs(aligned, **FEW) if run.failure()}
    said, _ = explained(failed)
    assert 'with conventions={"causal": "bottom-right", "fully-masked": "nan"} if' in " ".join(
        said.split()
    )
    assert "--convention" not in said
