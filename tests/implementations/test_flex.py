"""torch's flex_attention through our adapter: certified in what it computes on a CPU."""

import pytest

from spec import CLAUSES, certify
from spec.attention import rounding
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import scope_for
from spec.comparison import equal
from tests.night import deep

pytestmark = pytest.mark.torch
FLEX = "spec.adapters.flex_attention:attend"
BY_OPTION = ("A1", "W5", "U1", "Y2", "I1", "J1")


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, deep(3)])
def test_what_it_is_asked_in_places_is_attention(count: int) -> None:
    from spec.adapters import flex_attention  # where torch is not, it is not read

    record = implementation(flex_attention.attend, backend="torch")
    record = record.but(answers=record.answers - {Capability.EMPTY})
    for number in BY_OPTION:
        scope = scope_for(CLAUSES[number], record, "float32", "strict", "small")
        for problem in series(CLAUSES[number], scope, count, 0):
            within = rounding.of_output(problem)
            equal(record.forward(problem), rounding.reference(problem).o, within=within)


@pytest.mark.deep
def test_every_option_that_it_can_say_is_certified_forward() -> None:
    certificate = certify(FLEX, dtypes=("float32",), profile="quick")
    assert certificate.passed, str(certificate)
    others = {v.clause: v.outcome for v in certificate.verdicts if v.clause != "M8"}
    assert {*others.values()} <= {"holds", "refused", "not offered"}  # M8 says what should be so
    assert {r.what for r in certificate.refusals} >= {Capability.GRADIENTS, Capability.EMPTY}
    assert {v.clause for v in certificate.verdicts if v.outcome == "holds"} >= {"A7", *BY_OPTION}
