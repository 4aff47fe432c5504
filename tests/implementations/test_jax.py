"""JAX's own attention through our adapter: certified in float32, under conventions of its own.

XLA compiles anew for every shape, a tenth of a second under jit and most of one without; so it is
asked in few of them.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES, certify
from spec.attention import rounding
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.attention.plug.trials import core
from spec.attention.record import Implementation
from spec.comparison import equal
from spec.entries import eighths
from spec.subject import Refused
from spec.trial import broken
from tests.night import deep

pytestmark = pytest.mark.jax
MODULE = "spec.adapters.jax_attention"
ABOUT_IDLE = ("M9", "M11", "M12")
OPTIONS: dict[str, Any] = {"layout": "blhd", "profile": "quick"}
IDLE = {
    "fully-masked": "uniform",
    "fully-masked-bias": "nan",
    "padding-queries": "zero",
}  # as of `jax.nn`
FUSED = (
    "S15=jax 0.10.2 under jit on a CPU: scores are not rounded before the maximum, which was, is "
    "subtracted from them, so that from 1e9 on the exponential overflows"
)


@pytest.mark.deep
def test_its_float64_is_told_to_be_float32() -> None:
    asked: dict[str, Any] = {**OPTIONS, "dtypes": ("float64",), "clauses": ("A1",)}
    certificate = certify(f"{MODULE}:compiled", **asked, fail_fast=True)
    assert certificate.exit_code == 1
    assert "float64 in float32" in str(certificate)


@pytest.mark.parametrize("name", ["attend", "compiled"])
@pytest.mark.parametrize("mask", [[[False, False], [True, True]], [[-np.inf, -np.inf], [0, 0]]])
def test_what_a_query_that_sees_no_key_does_to_it(name: str, mask: list[list[Any]]) -> None:
    """The facts behind its conventions."""
    import jax
    import jax.numpy as jnp

    from spec.adapters import jax_attention

    attend = getattr(jax_attention, name)
    q, k, v = (jnp.array(x).reshape(1, 2, 1, 1) for x in ([1.0, 1.0], [1.0, 2.0], [1.0, 3.0]))
    given = jnp.array(mask)
    out, pull = jax.vjp(lambda q, k, v: attend(q, k, v, attn_mask=given), q, k, v)
    _, dk, dv = pull(jnp.array([0.0, 1.0]).reshape(out.shape))  # the loss is the other query's
    if given.dtype == bool:
        assert out[0, 0, 0, 0] == 2.0  # the mean of values that it may not see
        assert not np.isnan(dk).any()
        assert not np.isnan(dv).any()
    else:
        assert np.isnan(out[0, 0, 0, 0])
        assert np.isnan(dk).all()
        assert np.isnan(dv).all()


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("attend", "float32"),
        ("attend", "bfloat16"),
        ("attend", "float16"),
        ("compiled", "float32"),
        ("compiled", "bfloat16"),
    ],
)
def test_our_adapter_hands_masks_over_as_jax_wants_them(name: str, dtype: str) -> None:
    record = _record(name)
    mask = np.tri(4, 5, k=1, dtype=bool)
    for given in (None, mask, np.where(mask, eighths(4, 5), -np.inf)):
        problem = core(dtype, H=6, G=3).but(mask=given)
        right = rounding.reference(problem)
        equal(record.forward(problem), right.o, within=rounding.of_output(problem))
        equal(record.lse(problem), right.lse, within=rounding.of_lse(problem, dtype))


@pytest.mark.parametrize(("width", "finite"), [(1, False), (2, False), (4, True), (8, False)])
def test_what_large_scores_do_to_it_under_jit(width: int, finite: bool) -> None:
    """The fact behind its deviation: of two keys, scores of 1e12; and how it depends on a width."""
    from spec.adapters import jax_attention

    q = np.full((1, 1, 1, width), 1e12, np.float32)
    k = np.full((1, 2, 1, width), -1.1, np.float32)
    v = np.ones_like(k)
    assert np.isfinite(jax_attention.attend(q, k, v)).all()
    assert bool(np.isfinite(jax_attention.compiled(q, k, v)).all()) is finite


@pytest.mark.parametrize(("name", "holds"), [("attend", True), ("compiled", False)])
def test_its_deviation_is_seen_by_the_clause_that_it_is_declared_for(
    name: str, holds: bool
) -> None:
    """On a problem of its own, as the shapes of a seed need not have it."""
    q, v = np.full((1, 1, 1, 1), 1e12, np.float32), np.ones((1, 1, 2, 1), np.float32)
    problem = core("float32", B=1, H=1, G=1, N=1, M=2, D=1, E=1).but(q=q, k=-1.1 * v, v=v)
    assert (broken(CLAUSES["S15"], _record(name), problem) is None) is holds


@pytest.mark.parametrize(
    ("problem", "reason"),
    [
        (core("bfloat16", B=1, H=1, N=1, M=1), "Algorithm not supported"),
        (core("float16"), "'F16_F16_F32' is not supported"),
    ],
)
def test_what_does_not_compile_in_16_bits(problem: Problem, reason: str) -> None:
    """One query and one key in bfloat16; anything in float16. Without jit, JAX falls back."""
    with pytest.raises(Refused, match=reason):
        _record("compiled").forward(problem)
    within = rounding.of_output(problem)
    equal(_record("attend").forward(problem), rounding.reference(problem).o, within=within)


def _record(name: str) -> Implementation:
    from spec.adapters import jax_attention

    return implementation(getattr(jax_attention, name), backend="jax", layout="blhd")


@pytest.mark.slow
def test_the_function_of_jax_goes_in_as_it_is() -> None:
    """Truth values by `mask`, numbers by `bias`, windows, lengths and the log-sum-exp, likewise."""
    clauses = ("A1", "A2", "A7", "B8", "M1", "M22", "C1", "W5", "S7", "J2", "J9")
    certificate = certify(
        "jax.nn:dot_product_attention",
        **OPTIONS,
        dtypes=("float32",),
        clauses=clauses,
        compiled="static",
        conventions=IDLE,
    )
    assert {v.clause: v.outcome for v in certificate.verdicts} == dict.fromkeys(clauses, "holds")
    assert certificate.passed


@pytest.mark.slow
@pytest.mark.parametrize(("profile", "programs"), [("quick", 140), deep("standard", 400)])
def test_the_whole_certificate(tmp_path: Path, profile: str, programs: int) -> None:
    words = ["certify", f"{MODULE}:compiled", "--layout", "blhd", "--profile", profile]
    # XLA does so in some shapes, which few palettes have: that S15 sees it is tested by itself.
    words += ["--deviation", FUSED]
    done = subprocess.run(
        [sys.executable, "-m", "spec", *words, "--dtype", "float32", "--json", str(tmp_path / "c")],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(x for x in sys.path if x)},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads((tmp_path / "c").read_text())
    assert {v["clause"] for v in found["verdicts"] if v["outcome"] == "deviates"} <= {"S15"}
    assert 0 < found["programs"] <= programs
    assert f"programs {found['programs']} compiled: " in done.stdout
    assert found["ledger"]["holds"] > 100
    assert {v["outcome"] for v in found["verdicts"] if v["clause"] in ABOUT_IDLE} == {"holds"}
    assert "conventions   fully-masked=uniform, fully-masked-bias=nan" in done.stdout


@pytest.mark.slow
def test_a_log_sum_exp_that_stops_gradients_is_a_constant_and_another_is_judged() -> None:
    """Of `jax.nn` it is the first, by `lax.stop_gradient`; so nobody asks what it teaches."""
    import jax
    import jax.numpy as jnp

    def attend(query: Any, key: Any, value: Any, return_lse: bool = False) -> Any:
        s = jnp.einsum("bhid,bhjd->bhij", query, key) / np.sqrt(query.shape[-1])
        o = jax.nn.softmax(s) @ value
        return (o, jax.nn.logsumexp(s, -1)) if return_lse else o

    told: dict[str, Any] = {**OPTIONS, "dtypes": ("float32",), "clauses": ("S16", "S17")}
    told["compiled"] = "static"
    found = certify("jax.nn:dot_product_attention", **told, conventions=IDLE)
    lse = "not offered"
    assert {v.clause: v.outcome for v in found.verdicts} == {"A1": "holds", "S16": lse, "S17": lse}
    found = certify(attend, **told | {"layout": "bhld", "backend": "jax"})
    assert {v.outcome for v in found.verdicts} == {"holds"}
