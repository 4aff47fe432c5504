"""JAX's own attention through our adapter: judged on its merits, and told what it breaks.

XLA compiles anew for every shape, a third of a second each; so this looks at a
few clauses, and a person who wants all of them runs the command line.
"""

from __future__ import annotations

import numpy as np
import pytest

from spec import certify, rounding
from spec.backends import implementation
from spec.certification.probing import core, lattice
from spec.clause import equal

pytestmark = pytest.mark.jax
TARGET = "implementations.adapters.jax_attention:attend"
# Clauses that put no idle query to anybody: what JAX returns there is told below.
LIVE = ("C1", "C2", "C6", "C12", "S9", "S12", "S13", "P9", "M15", "X4")


def test_its_float32_is_attention_where_every_query_sees_a_key() -> None:
    certificate = certify(TARGET, layout="blhd", dtypes=("float32",), profile="quick", clauses=LIVE)
    outcomes = {v.clause: v.outcome for v in certificate.verdicts}
    assert outcomes == dict.fromkeys(outcomes, "holds"), str(certificate)
    assert len(outcomes) == len(LIVE)


def test_its_float64_is_told_to_be_float32() -> None:
    certificate = certify(
        TARGET, layout="blhd", profile="quick", dtypes=("float64",), clauses=("A1",)
    )
    assert not certificate.passed
    assert "float64 in float32" in str(certificate)


def test_its_idle_queries_follow_no_convention_and_are_reported() -> None:
    """A boolean mask makes them the mean of forbidden values, an additive one NaN."""
    certificate = certify(
        TARGET, layout="blhd", profile="quick", dtypes=("float32",), clauses=("M9",)
    )
    (verdict,) = certificate.verdicts
    assert verdict.outcome == "violated"


def test_our_adapter_hands_masks_over_as_jax_wants_them() -> None:
    from implementations.adapters.jax_attention import attend

    record = implementation(attend, backend="jax", layout="blhd")
    mask = np.tri(4, 5, k=1, dtype=bool)
    for given in (None, mask, np.where(mask, lattice(4, 5), -np.inf)):
        problem = core("float32", H=6, G=3).but(mask=given)
        within = rounding.of_output(problem)
        equal(record.forward(problem), rounding.reference(problem).o, within=within)
