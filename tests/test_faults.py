"""The measurement of how faults are told is itself held to what it says."""

from dataclasses import replace

import pytest

from spec.certification.judging.cause import Cause
from spec.kinds import KINDS
from tests.faults import figures
from tests.night import deep
from tests.telling import is_that, told

CACHE = KINDS["cache"]
FORK = CACHE.mistakes["branches_into_itself"]


# Formats, and seeds of fresh problems for a share.
@pytest.fixture(scope="module", params=[(("float32",), 4), deep((("float64", "float32"), 20))])
def gate(request):
    dtypes, seeds = request.param
    kind = KINDS["feed-forward"]
    mistake = kind.mistakes["forgets_the_gate_backward"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.telling.MANY", 1)
        patch.setattr("tests.shares.OTHERS", seeds)
        return told(kind, [mistake], mistake.target, dtypes)


@pytest.mark.slow
def test_a_mistake_that_is_told_as_it_declares_itself(gate):
    assert gate.names == ["forgets_the_gate_backward"]
    assert gate.sentences == ["where a closed gate, gradients are wrong"]
    assert (gate.known, gate.fresh, gate.shown) == ([True], "holds", [True])
    assert gate.alone == [True]
    (share,) = gate.wrong
    assert share > 1 / 3
    assert gate.lines <= 60
    assert gate.letters <= 200_000


def test_what_is_no_such_function_is_told_in_a_line():
    attention = KINDS["attention"]
    mistake = attention.mistakes["returns_length_before_heads"]
    found = told(attention, [mistake], mistake.target, ("float64", "float32"))
    (line,) = found.sentences
    assert "cannot be tested as an attention function: the output has the wrong shape" in line
    assert (found.lines, found.fresh) == (1, "nowhere")


def test_a_cause_of_something_else_is_not_that_mistake():
    cause = Cause((), "a fork", "is wrong")
    assert is_that(CACHE, FORK, cause)
    assert not is_that(CACHE, FORK, replace(cause, asked=""))
    assert not is_that(CACHE, FORK, replace(cause, features=("N > 8",)))
    attention = KINDS["attention"]
    mistake = attention.mistakes["forgets_the_cap_beside_causality"]
    wider, narrower = ("causal", "M > 1"), ("causal", "M > 1", "N > M")
    for features, there in ((wider, True), (("a soft-cap", "causal"), True), (narrower, False)):
        assert is_that(attention, mistake, Cause(features, "", "is wrong")) is there
    assert not is_that(attention, mistake, Cause(("causal",), "", "is wrong"))  # by two features


def test_figures_are_of_all(gate):
    other = replace_known(gate)
    lines = [*figures([gate, other])]
    assert "2 certificates, each of 1 at once" in lines
    assert "as many causes: 1; more: 1" in lines
    assert "at most 2 causes; all told: 1" in lines
    assert "longer than a page, and a third for each further cause: 0" in lines
    assert "regions: 2; that hold on fresh problems: 1" in lines
    assert "scripts: 2; that show their cause: 1" in lines
    assert "scripts that need the specification: 1" in lines


def replace_known(gate):
    """The same, told badly."""
    return gate._replace(
        sentences=["where N > 1, it is wrong", "and elsewhere"],
        known=[False],
        fresh="broken: C1 float64",
        shown=[False],
        alone=[False],
    )
