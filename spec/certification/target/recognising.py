"""Conventions recognised: a wrong answer that another, undeclared choice would make right.

Each choice other than the declared one is tried on small problems that tell the
choices apart. The line that comes of it says what to declare, if it is meant.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from spec.backends import Unsuitable
from spec.clause import Clause
from spec.kind import Guarded
from spec.kinds import kind_of
from spec.laws import CLAUSES
from spec.subject import Subject
from spec.trial import keeps

LOOKS = "looks like"  # opens a line of advice


def recognised(
    raw: Subject, dtype: str, declared: Mapping[str, str], guard: Guarded
) -> Mapping[str, str]:
    """Conventions that `raw` seems to follow, beyond what it and its caller declare."""
    kind = kind_of(raw.about)

    def right(
        clauses: Iterable[Clause], choices: Mapping[str, str], problems: Iterable[Any]
    ) -> bool:
        try:
            record = guard(kind.under(raw, choices))
        except Unsuitable:  # a record that was written by hand is what it is
            return False
        fitted = [kind.fitted(record, problem) for problem in problems]
        return all(keeps(clause, record, p) for clause in clauses for p in fitted)

    chosen = {**raw.chosen, **declared}
    mine = kind.under(raw, chosen)
    found: dict[str, str] = {}
    others = kind.telling_else(dtype)

    def supported(problems: Iterable[Any]) -> list[Any]:
        fitted = [kind.fitted(mine, x) for x in problems if x.dtype in raw.dtypes]
        return [x for x in fitted if mine.kinds_of(x) <= mine.answers]

    for name, problems in kind.telling(dtype).items():
        known = {**chosen, **found}  # who is told one may need no other
        told_by = (kind.definition, kind.told_by.get(name, kind.definition))
        clauses = [CLAUSES[x] for x in dict.fromkeys(told_by)]  # who is right in all else
        asked = supported(problems) or supported(others.get(name, ()))
        if not asked or not all(c.binds(mine) for c in clauses) or right(clauses, known, asked):
            continue
        for choice in raw.choices[name]:
            if choice != chosen[name] and right(clauses, {**known, name: choice}, asked):
                found[name] = choice
    return found


def declaring(choices: Mapping[str, str]) -> str:
    """Conventions that were recognised, and how to declare them."""
    words = [f"{name}={choice}" for name, choice in choices.items()]
    options = " ".join(f'--convention "{x}"' if " " in x else f"--convention {x}" for x in words)
    if len(words) == 1:
        return f"the convention {words[0]}: declare it with {options} if it is meant"
    return f"the conventions {' and '.join(words)}: declare them with {options} if they are meant"
