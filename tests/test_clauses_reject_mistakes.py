"""No clause is decoration: each rejects every mistake that it names, at the standard profile.

And nothing gets past all of them: every mistake is refused as a whole, whatever
the seed, and what is harmless after all is certified.
"""

from __future__ import annotations

from functools import cache

import pytest

from spec import about
from spec.backends import implementation
from spec.certification.running import judged, scope_for
from spec.clause import Clause
from spec.implementation import Implementation
from spec.mistakes import MISTAKES
from tests.torch_mistakes import NAMES as TORCH_MISTAKES
from tests.torch_mistakes import forgets_keys_asked_for_alone

CLAUSES = about("attention")
EXAMPLES = 25  # of the standard profile, for a clause of usual effort
PAIRS = [
    (clause, name)
    for clause in CLAUSES.values()
    for name in sorted(clause.catches)
    if name in MISTAKES
]
HARMLESS = [name for name, mistake in MISTAKES.items() if mistake.harmless]


@cache
def made(name: str) -> Implementation:
    """A mistake as an implementation to be judged."""
    return implementation(MISTAKES[name].attend, name=name, backend="numpy")


def refuted(clause: Clause, attention: Implementation, dtype: str, seed: int) -> bool:
    scope = scope_for(clause, attention, dtype, "strict", "standard")
    finding = judged(clause, attention, scope, examples=EXAMPLES, seed=seed)
    return finding.violation is not None


@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=[f"{c.number}-{n}" for c, n in PAIRS])
def test_a_clause_rejects_the_mistakes_it_names(clause: Clause, name: str) -> None:
    assert any(refuted(clause, made(name), dtype, seed=0) for dtype in MISTAKES[name].dtypes)


@pytest.mark.deep
@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=[f"{c.number}-{n}" for c, n in PAIRS])
def test_a_clause_rejects_them_for_any_seed(clause: Clause, name: str) -> None:
    for seed in range(1, 6):
        assert any(refuted(clause, made(name), dtype, seed) for dtype in MISTAKES[name].dtypes)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_harmless_is_certified(name: str) -> None:
    attention = made(name)
    broken = [
        clause.id
        for clause in CLAUSES.values()
        if clause.force == "must"
        and clause.binds(attention)
        and refuted(clause, attention, "float32", seed=0)
    ]
    assert not broken


@pytest.mark.torch
def test_a_gradient_that_depends_on_who_asks_is_rejected() -> None:
    assert (forgets_keys_asked_for_alone.__name__,) == TORCH_MISTAKES
    attention = implementation(forgets_keys_asked_for_alone(), backend="torch")
    assert refuted(CLAUSES["T7"], attention, "float32", seed=0)
