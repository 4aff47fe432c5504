"""No clause is decoration: each rejects every mistake that it names, at the standard profile.

Whatever the kind of subject, and whatever the seed; and what is harmless after all is certified,
a third of it by as many problems as the quick profile has, and in `deep` all of it by those of the
standard profile.
"""

from collections import defaultdict

import pytest

from spec import CLAUSES, about
from spec.attention.plug import implementation
from spec.clause import Clause
from spec.kinds import KINDS
from tests.judging import EXAMPLES, QUICK, broken, found
from tests.night import deep
from tests.targets import torch_mistakes
from tests.targets.torch_mistakes import NAMES as TORCH_MISTAKES

MISTAKES = {about: kind.mistakes for about, kind in KINDS.items()}
PAIRS = [
    (clause, name)
    for clause in CLAUSES.values()
    for name in sorted(clause.catches - {*TORCH_MISTAKES})
]
IDS = [f"{clause.number}-{name}" for clause, name in PAIRS]
HARMLESS = [
    (kind, name)
    for kind, mistakes in MISTAKES.items()
    for name, mistake in mistakes.items()
    if mistake.harmless
]
SOME = [x if place % 3 == 0 else deep(*x) for place, x in enumerate(HARMLESS)]


def refuted(clause: Clause, name: str, seed: int) -> bool:
    """Whether the clause rejects the mistake, in one of the formats where it shows."""
    subject, dtypes = KINDS[clause.about].subjects[name], MISTAKES[clause.about][name].dtypes
    return any(found(clause, subject, x, seed=seed).violation for x in dtypes)


@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=IDS)
def test_a_clause_rejects_the_mistakes_it_names(clause: Clause, name: str) -> None:
    assert refuted(clause, name, seed=0)


@pytest.mark.deep
@pytest.mark.parametrize(("clause", "name"), PAIRS, ids=IDS)
def test_a_clause_rejects_them_for_any_seed(clause: Clause, name: str) -> None:
    for seed in range(1, 6):
        assert refuted(clause, name, seed), seed


@pytest.mark.parametrize("kind", KINDS)
def test_every_mistake_is_named_by_a_clause_of_its_force(kind: str) -> None:
    """By one that must hold, if it must not be, and else only by those that should.

    What is right up to rounding is named only by clauses about promises of bits.
    """
    named, wrong = defaultdict[str, set[str]](set), defaultdict[str, set[str]](set)
    for clause in about(kind).values():
        named[clause.force] |= clause.catches - {*TORCH_MISTAKES}
    for name, mistake in MISTAKES[kind].items():
        if not mistake.harmless or mistake.force == "promise":
            wrong[mistake.force].add(name)
    assert named["must"] == wrong["must"]
    assert named["promise"] - named["must"] == wrong["promise"]
    assert named["should"] - named["must"] == wrong["should"]


def accused(kind: str, name: str, examples: int, seed: int) -> set[str]:
    """The clauses that a harmless one breaks, `should` or not, but for promises of bits."""
    subject, dtypes = KINDS[kind].subjects[name], MISTAKES[kind][name].dtypes
    return {key for x in dtypes for key in broken(subject, x, examples, seed)}


@pytest.mark.quick(
    "alibi-forbids*",
    "alibi-counts*",
    "sinusoidal*",
    "rotary*",
    "feed-forward-appends*",
    "feed-forward-gates*",
    "merging-normalises*",
    "merging-merges*",
)
@pytest.mark.parametrize(("kind", "name"), SOME)
def test_what_is_harmless_is_certified(kind: str, name: str) -> None:
    assert not accused(kind, name, QUICK, seed=0)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("kind", "name"), HARMLESS)
def test_what_is_harmless_is_certified_for_any_seed(kind: str, name: str, seed: int) -> None:
    assert not accused(kind, name, EXAMPLES, seed)


@pytest.mark.torch
@pytest.mark.parametrize("name", TORCH_MISTAKES)
def test_a_gradient_that_autograd_makes_wrong_is_rejected(name: str) -> None:
    attention = implementation(getattr(torch_mistakes, name)(), backend="torch")
    naming = [clause for clause in about("attention").values() if name in clause.catches]
    assert naming
    assert all(found(clause, attention, "float32").violation for clause in naming)
