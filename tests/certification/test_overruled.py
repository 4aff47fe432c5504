"""A known bug goes before a convention that it follows, unless it is nothing but the convention."""

from typing import Any

import pytest

from spec.certification.diagnosing.overruled import overruled
from spec.certification.judging.cause import Cause
from spec.certification.judging.verdict import Counterexample
from spec.certification.target.recognising import Recognised
from spec.kinds import KINDS


@pytest.mark.quick(
    "layer-leaves*",
    "layer-fills_hidden_scores_with_minus_a_billion-uniform*",
    "layer-fills_hidden_scores_with_minus_a_billion-nan*",
)
@pytest.mark.parametrize(
    ("about", "bug", "choice", "found"),
    [
        ("layer", "fills_hidden_scores_with_minus_a_billion", "uniform", {"fully-masked": 1}),
        ("layer", "fills_hidden_scores_with_minus_a_billion", "nan", {}),
        ("layer", "leaves_the_scores_of_a_layer_unscaled", "uniform", {}),
        ("attention", "gives_idle_queries_nan", "nan", {}),
    ],
)
def test_a_bug_that_explains_more_than_a_convention_goes_before_it(
    about: str, bug: str, choice: str, found: dict[str, int]
) -> None:
    kind: Any = KINDS[about]
    line = kind.mistakes[bug].line
    shown = Counterexample(None, "", about, "", "", None, (line,), "", True)
    cause = Cause((), "", "is wrong", counterexample=shown)
    seems = Recognised({"fully-masked": choice})
    assert overruled(kind, [cause], seems) == found
    assert overruled(kind, [], seems) == {}
