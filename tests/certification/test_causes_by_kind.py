"""One fault is one cause in the smaller chapters too, in their own words."""

import pytest

from spec import about, certify
from spec.kinds import KINDS
from tests.night import deep

CAUSES = [
    ("rotary", "starts_again_behind_a_cache", "", {"positions other than 0, 1, 2"}),
    ("rotary", "rotates_values_too", "placed arrays", {"a position above 0"}),
    ("sinusoidal", "ends_at_the_base", "", {"E > 2"}),
    ("sinusoidal", "shifts_a_sine_for_the_cosine", "", {"a position above 0"}),
    (
        "alibi",
        "takes_one_formula_for_all_heads",
        "",
        {"heads beyond a power of two", "no list of slopes", "M > 1"},
    ),
    ("feed-forward", "adds_the_outer_bias_on_each_shard", "", {"an outer bias", "F > 1"}),
    ("feed-forward", "forgets_the_gate_backward", "gradients", {"a closed gate"}),
    ("feed-forward", "adds_the_residual_in_place", "a watched call", set()),
    ("merging", "gives_nan_for_two_empty_states", "", {"two empty states"}),
    ("merging", "overwrites_by_an_idle_split", "", {"an empty second state with a nonempty one"}),
    ("merging", "turns_a_square_of_heads_and_queries", "", {"H = N", "H > 1"}),
    ("merging", "drops_the_cotangent_of_lse", "gradients", {"a cotangent of lse"}),
    ("merging", "merges_into_the_first", "a watched call", set()),
]


@pytest.mark.quick("sinusoidal-shifts*", "feed-forward-adds_the_residual*")
@pytest.mark.parametrize(("kind", "name", "asked", "features"), CAUSES)
def test_one_fault_is_one_cause(kind: str, name: str, asked: str, features: set[str]) -> None:
    """Judged by the definition, and by the clauses that name the mistake."""
    naming = (clause.number for clause in about(kind).values() if name in clause.catches)
    clauses = (KINDS[kind].definition, *naming)
    dtypes = ("float32", "float64")
    target = KINDS[kind].mistakes[name].target
    # Of the quick problems that this one answers right, none has a cotangent of lse.
    profile = "standard" if name == "merges_into_the_first" else "quick"
    certificate = certify(target, kind=kind, clauses=clauses, dtypes=dtypes, profile=profile)
    (cause,) = certificate.causes
    assert (cause.asked, {*cause.features}) == (asked, features)


@pytest.mark.parametrize("profile", ["quick", deep("standard")])
def test_a_cause_is_all_that_its_lens_mends(profile: str) -> None:
    """Through the lens nobody sees what else is wrong, and the region would hold it."""
    target = KINDS["merging"].mistakes["takes_nats_for_bits"].target
    certificate = certify(target, kind="merging", dtypes=("float32",), profile=profile)
    (cause,) = certificate.causes
    assert "lse-base=2" in cause.lens
    assert (cause.features, certificate.region.sentence) == ((), "")
