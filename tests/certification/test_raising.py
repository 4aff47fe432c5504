"""A target whose gradients raise an exception is not certified, unless it has none on purpose."""

from collections.abc import Callable
from typing import Any

import pytest

from implementations.dense import attend as dense
from implementations.multihead import MultiHead
from spec import certify
from spec.certification.ledger.certificate import Certificate

CLAUSES = ("A1", "A2", "A3", "C1", "C3")
torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch


def judged(target: Any, **more: Any) -> Certificate:
    return certify(target, profile="quick", dtypes=("float32",), clauses=CLAUSES, **more)


def raising(error: Exception) -> Callable[..., Any]:
    """Attention whose backward pass raises `error`."""

    class Attention(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, q: Any, k: Any, v: Any, causal: bool) -> Any:  # noqa: ARG004
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

        @staticmethod
        def backward(ctx: Any, dout: Any) -> Any:  # noqa: ARG004
            raise error

    def attend(q: Any, k: Any, v: Any, *, is_causal: bool = False) -> Any:
        return Attention.apply(q, k, v, is_causal)

    return attend


@pytest.mark.slow
def test_gradients_that_raise_an_exception_are_a_failure() -> None:
    certificate = judged(raising(RuntimeError("out of paper")))
    assert certificate.exit_code == 1
    (cause,) = certificate.causes
    assert cause.sentence == "wherever it was tested, computing gradients raises an exception"
    text = str(certificate)
    assert "raises an exception in the basic case: RuntimeError: out of paper" in text
    assert "declare --convention gradients=none" in text
    assert "gradients with" not in text, "the reason stands there once"
    outcomes = {v.clause: v.outcome for v in certificate.verdicts}
    assert outcomes["A1"] == outcomes["C1"] == "holds"


@pytest.mark.parametrize("causality", ["optional", "always"])
def test_a_target_for_inference_declares_that_it_has_no_gradients(causality: str) -> None:
    target = raising(RuntimeError("no"))
    always = causality == "always"
    called = (lambda q, k, v: target(q, k, v, is_causal=True)) if always else target
    declared = {"gradients": "none", "causality": causality}
    certificate = judged(called, conventions=declared)
    assert certificate.passed, str(certificate)
    assert "gradients=none" in str(certificate)
    outcomes = {v.clause: v.outcome for v in certificate.verdicts}
    assert outcomes["A2"] == outcomes["A3"] == "not offered"


def test_a_backward_pass_that_is_not_implemented_is_not_tested() -> None:
    certificate = judged(raising(NotImplementedError("for inference")))
    assert certificate.passed, str(certificate)
    said = " ".join(str(certificate).split())
    assert "not tested as the target raises an exception: gradients of q, k and v" in said


@pytest.mark.slow
def test_wrong_gradients_are_excused_by_nothing_but_that_declaration() -> None:
    def attend(query: Any, key: Any, value: Any) -> Any:
        return dense(query, key, value)

    attend.backward = lambda dout, q, k, v: (dout @ dout.mT @ q, k, v)  # type: ignore[attr-defined]
    certificate = judged(attend, backend="numpy")
    assert certificate.exit_code == 1
    assert not any("gradients=none" in line for line in certificate.advice)
    assert judged(attend, backend="numpy", conventions={"gradients": "none"}).passed


@pytest.mark.parametrize("behind", [False, True])
def test_a_checkpoint_is_differentiated_as_training_does_it(behind: bool) -> None:
    """With use_reentrant=True it refuses torch.autograd.grad, and takes backward().

    A layer has a projection behind it, whose part of the graph is freed before that is refused.
    """
    from torch.utils.checkpoint import checkpoint

    def attend(q: Any, k: Any, v: Any) -> Any:
        score = lambda q, k, v: torch.softmax(q @ k.mT * q.shape[-1] ** -0.5, -1) @ v  # noqa: E731
        o = checkpoint(score, q, k, v, use_reentrant=True)
        return o * torch.ones((), dtype=v.dtype) if behind else o

    certificate = judged(attend)
    assert certificate.passed, str(certificate)
    assert {v.outcome for v in certificate.verdicts if v.clause in ("A2", "A3")} == {"holds"}


class OfTheInputsAlone(MultiHead):
    """A NumPy layer whose `backward` returns no gradients of the parameters."""

    def backward(self, dout: Any) -> Any:
        return super().backward(dout)[:-1]


@pytest.mark.slow
def test_what_a_layer_returns_for_gradients_has_one_form() -> None:
    few = {"profile": "quick", "dtypes": ("float32",), "clauses": ("L1", "L2")}
    certificate = certify(OfTheInputsAlone, backend="numpy", **few)
    assert certificate.exit_code == 1
    assert "want (dx, ..., gradients by name)" in str(certificate)
