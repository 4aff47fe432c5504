"""Layers that are causal in every call, described without saying so, right but for that or not."""

import textwrap
from pathlib import Path

import pytest

from spec import certify
from tests import shell
from tests.layer.test_described import of_nanogpt

OPTIONS = {"profile": "quick", "dtypes": ("float32",), "clauses": ("L1", "L2", "L36")}
UNSCALED = """
    import numpy as np

    class Unscaled:
        def __init__(self, width, heads):
            self.heads = heads
            self.W_q, self.W_k, self.W_v, self.W_o = np.zeros((4, width, width))

        def __call__(self, x):
            b, n, a = x.shape
            q, k, v = (
                (x @ w).reshape(b, n, self.heads, -1).swapaxes(1, 2)
                for w in (self.W_q, self.W_k, self.W_v)
            )
            s = q @ k.swapaxes(-1, -2)
            s = np.where(np.tri(n, dtype=bool), s, np.array(-np.inf, s.dtype))
            e = np.exp(s - s.max(-1, keepdims=True))
            y = e / e.sum(-1, keepdims=True) @ v
            return y.swapaxes(1, 2).reshape(b, n, a) @ self.W_o
"""
DESCRIBED = """
    make = "Unscaled(A, H)"
    inputs = 1
    [names]
    W_q = "W_q (in, out)"
    W_k = "W_k (in, out)"
    W_v = "W_v (in, out)"
    W_o = "W_o (in, out)"
"""


@pytest.mark.slow
def test_what_is_left_under_a_convention_has_a_script_that_runs_alone(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(textwrap.dedent(DESCRIBED))
    layer, cause = tmp_path / "unscaled.py", tmp_path / "cause.py"
    layer.write_text(textwrap.dedent(UNSCALED))
    few = {**OPTIONS, "clauses": ("L1", "L36"), "description": str(tmp_path / "own.toml")}
    first, second = certify(f"{layer}:Unscaled", isolation="none", **few).causes
    assert first.lens.startswith("seems to follow the convention causality=always")
    assert second.counterexample is not None
    assert "spec" not in second.counterexample.script.partition("import numpy")[2]
    cause.write_text(second.counterexample.script)
    done = shell.run(program=("cause.py",), cwd=tmp_path, path=[])
    assert done.returncode == 1, done.stderr
    scale = "q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1], dtype=q.dtype)"
    layer.write_text(layer.read_text().replace("q @ k.swapaxes(-1, -2)", scale))
    done = shell.run(program=("cause.py",), cwd=tmp_path, path=[])
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_a_layer_that_is_right_but_for_causality_is_correct_under_the_convention() -> None:
    record = of_nanogpt("CausalSelfAttention").but(conventions={})
    certificate = certify(record, **OPTIONS)  # type: ignore[arg-type]
    (cause,) = certificate.causes
    assert cause.lens.startswith("correct under the convention causality=always: declare it with")
    assert {*cause.clauses} == {"L1", "L2", "L36"}, "all that fail, fail for it"
    assert "with the change of cause 1, correct on all problems" in str(certificate)


@pytest.mark.torch
@pytest.mark.slow
def test_a_wrong_scale_is_found_beside_causality_that_nobody_declared() -> None:
    record = of_nanogpt("Unscaled").but(conventions={})
    certificate = certify(record, **OPTIONS)  # type: ignore[arg-type]
    assert len(certificate.causes) == 2, certificate
    said = " ".join(str(certificate).split())
    assert "1. seems to follow the convention causality=always: declare it with" in said
    assert "with it, the causes below are left" in said
    assert "2. looks like: Does not divide the scores by the square root of the head size" in said
