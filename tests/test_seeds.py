"""A mistake is refused by who compiles as well, unless it is one of a single size."""

import pytest

from spec.kinds import KINDS
from tests.night import deep
from tests.seeds import refused

ALIBI, MERGING = KINDS["alibi"], KINDS["merging"]


@pytest.mark.parametrize("seed", [1, deep(2)])
@pytest.mark.parametrize(
    ("kind", "compiles"), [(ALIBI, False), (ALIBI, True), (MERGING, False), deep(MERGING, True)]
)
def test_every_mistake_of_a_kind_is_refused(kind, compiles, seed):
    wrong = [mistake for mistake in kind.mistakes.values() if not mistake.harmless]
    assert wrong
    assert [m.name for m in wrong if not refused(kind, m, seed, compiles)] == []


def test_what_is_right_is_not_refused():
    harmless = [m for m in ALIBI.mistakes.values() if m.harmless]
    assert harmless
    assert [m.name for m in harmless if refused(ALIBI, m, 0, compiles=True)] == []
