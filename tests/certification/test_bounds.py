"""Bounds: a cause covers the calls of one function, and those of the parts of that function."""

import pytest

from spec.attention.plug.trials import square
from spec.attention.truth import truth
from spec.certification.judging.bounds import Bounds
from spec.certification.judging.cause import Cause
from spec.kinds import KINDS
from spec.trial import Elsewhere

KIND = KINDS["attention"]
CAUSAL, PLAIN = square("float32").but(causal=True), square("float32")


def bounds(asked: str, *features: str, **words: object) -> Bounds:
    """Those of one cause."""
    return Bounds.of(KIND, "", [Cause(features, asked, "is wrong", **words)])


@pytest.mark.parametrize(
    ("asked", "covered"),
    [
        ("", {"", "gradients", "gradients of the mask", "weights"}),
        ("gradients", {"gradients", "gradients of the mask"}),
        ("gradients of the mask", {"gradients of the mask"}),
        ("weights", {"weights"}),
    ],
)
def test_a_cause_covers_the_function_that_it_is_in_and_its_parts(
    asked: str, covered: set[str]
) -> None:
    """All functions are parts of the first one; a wrong gradient says nothing of the output."""
    alone = bounds(asked, "causal")
    for one in ("", "gradients", "gradients of the mask", "weights"):
        assert alone.covers(alone.causes[0], CAUSAL, one) is (one in covered), one
        assert alone.has(CAUSAL, one) is (one not in covered), one
        assert alone.has(PLAIN, one)


def test_a_cause_covers_problems_that_have_all_of_its_features() -> None:
    alone = bounds("", "causal", "N > 1")
    assert not alone.has(CAUSAL, "")
    assert alone.has(CAUSAL.but(q=CAUSAL.q[:, :, :1], dout=CAUSAL.dout[:, :, :1]), "")
    assert alone.has(PLAIN, "")


def test_a_cause_of_what_is_drawn_covers_no_call() -> None:
    alone = bounds("", "causal", drawn=True, beside=("C1",))
    assert alone.has(CAUSAL, "")
    assert not alone.draws(CAUSAL, "C1")
    assert alone.draws(PLAIN, "C1")
    assert alone.draws(CAUSAL, "C2")


def test_what_is_asked_outside_is_elsewhere() -> None:
    within = bounds("gradients", "causal").over(truth())
    assert within.forward(CAUSAL).shape == CAUSAL.dout.shape
    with pytest.raises(Elsewhere):
        within.backward(CAUSAL)
    assert within.backward(PLAIN).q.shape == PLAIN.q.shape
