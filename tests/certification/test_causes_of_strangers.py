"""Faults that no catalogue has are one cause each, which says where they are wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from spec import certify
from tests.night import deep
from tests.targets import strangers


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        (strangers.one_for_none, "where B = 0, the output has the wrong shape"),
        deep(
            strangers.leaves_beyond_seven_queries,
            "where N > 7, computing the output raises an exception",
        ),
        deep(strangers.loses_the_last_of_odd_heads, "where H % 2 != 0, the output is wrong"),
        deep(strangers.reads_five_hundred_keys, "where M > 500, the output is wrong"),
        deep(strangers.clips_queries, "where entries beyond 8 and M > 1, the output is wrong"),
        deep(strangers.takes_low_biases_to_hide, "where biases below -1000, the output is wrong"),
    ],
)
def test_it_is_the_only_cause_and_said_to_be_seen(
    target: Callable[..., Any], sentence: str
) -> None:
    seed = 2 if target is strangers.clips_queries else 0  # others are clear by any
    certificate = certify(target, profile="standard", dtypes=("float32",), seed=seed)
    (cause,) = certificate.causes
    assert cause.sentence == sentence
    assert cause.clauses
    assert cause.dtypes == ("float32",)
    assert certificate.notes == ()
    assert certificate.region.passed
    wrong, inside = cause.problems
    assert 3 * wrong > 2 * inside


@pytest.mark.deep
def test_what_a_layer_never_shows_is_no_cause_beside_one_that_it_has() -> None:
    layer = strangers.ForgetsMasksUnlessAskedForWeights
    certificate = certify(layer, profile="standard", dtypes=("float32",))
    assert [x.sentence for x in certificate.causes] == [
        "where an attention mask and no additive mask, the output is wrong"
    ]
    (message,) = {v.message for v in certificate.verdicts if v.clause == "L6"}
    assert message == "returns the weights of each head"


@pytest.mark.slow
def test_a_cache_that_is_wrong_from_its_third_append_on_is_said_to_be() -> None:
    cache = strangers.OverwritesFromItsThirdAppendOn
    certificate = certify(cache, profile="quick", dtypes=("float32",), clauses=("C16", "C17"))
    assert "problems with more than 2 steps" in str(certificate)
    assert certificate.causes[0].features == ("more than 2 steps",)
    assert certificate.region.sentence == "not more than 2 steps"
