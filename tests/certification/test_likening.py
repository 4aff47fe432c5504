"""Which results a cause says are wrong, and the known bug that it is likened to."""

import numpy as np
import pytest

from spec import about, certify
from spec.certification.diagnosing.leads import Row, off_by, shows, typical
from spec.certification.judging.cause import Cause
from spec.comparison import Violation, equal
from spec.kinds import KINDS
from tests.targets import row_sums

CORE = KINDS["attention"].core("float32")


def caused(target: object, *clauses: str, **options: object) -> Cause:
    """The one cause of a target, in one format."""
    asked = {"profile": "quick", "dtypes": ("float32",), "clauses": clauses, **options}
    (cause,) = certify(target, **asked).causes
    return cause


@pytest.mark.slow
def test_what_rounding_leaves_of_an_exact_zero_is_no_example_and_hides_no_known_bug() -> None:
    cause = caused(row_sums.attend, "A2", "A3", "A4")
    example = cause.counterexample
    assert example is not None
    assert example.place is not None
    assert abs(example.place.got - example.place.want) > 1e-3
    assert [x.split()[0] for x in example.looks_like] == ["forgets_the_scale_of_key_gradients"]
    assert cause.told.startswith("dk is wrong in ")


@pytest.mark.quick("merging*", "feed-forward*")
@pytest.mark.parametrize(
    ("about_what", "name", "said"),
    [
        ("attention", "forgets_the_scale_of_query_gradients", "dq is wrong"),
        ("attention", "differentiates_softmax_by_element", "dq and dk are wrong"),
        ("attention", "forgets_the_denominator_of_value_gradients", "dv is wrong"),
        ("attention", "drops_the_row_term", "dq and dk are wrong"),
        ("merging", "measures_the_mean", "the log-sum-exp is wrong"),
        ("feed-forward", "averages_the_bias_gradient", "db2 is wrong"),
        ("layer", "forgets_the_way_through_the_keys", "gradients of the inputs are wrong"),
    ],
)
def test_a_cause_says_which_of_several_results_are_wrong(
    about_what: str, name: str, said: str
) -> None:
    kind = KINDS[about_what]
    compared = [number for numbers in kind.functions.compares.values() for number in numbers]
    cause = caused(kind.mistakes[name].target, *compared, kind=about_what, backend="numpy")
    assert cause.told.startswith(said)


@pytest.mark.slow
def test_where_all_results_are_wrong_none_is_named() -> None:
    target = KINDS["attention"].mistakes["differentiates_the_sum_of_the_output"].target
    cause = caused(target, "A2", "A3", "A4", backend="numpy")
    assert cause.parts == ()
    assert cause.told.startswith("gradients are wrong")


def test_parts_name_clauses_that_compare() -> None:
    for kind in KINDS.values():
        compared = {n for numbers in kind.functions.compares.values() for n in numbers}
        assert kind.functions.parts.keys() <= compared
        assert kind.functions.parts.keys() <= about(kind.about).keys()


def row(off: float, how: str = "is wrong") -> Row:
    return Row(CORE, how, "", np.zeros(1), off=off)


def test_a_row_shows_a_fault_unless_its_error_is_nothing_beside_that_of_most() -> None:
    usual = typical([row(1.0), row(2.0), row(3.0), row(np.inf), row(0.0, "")])
    assert usual == 2
    assert shows(row(1e-3), usual)
    assert not shows(row(1e-7), usual)
    assert shows(row(1e-7), typical([row(np.inf)]))


def test_the_error_of_what_is_no_number_is_infinite() -> None:
    assert off_by(Violation("raises")) == np.inf
    with pytest.raises(Violation) as found:
        equal(np.array([1.0, np.nan]), np.zeros(2), within=0.5)
    assert off_by(found.value) == np.inf


def test_bugs_of_two_programs_are_not_joined_though_a_step_has_the_same_name() -> None:
    attention = KINDS["attention"]
    bugs, joined = attention.mistakes, attention.causes.at_once
    paged, scale, mask = (
        bugs[name] for name in ("fills_pages_from_the_end", "scales_by_heads", "inverts_the_mask")
    )
    assert joined((scale, mask)) is not None
    assert joined((scale, paged)) is None
    assert len(attention.records(scale.name)) > len(attention.records(paged.name)) == 1
