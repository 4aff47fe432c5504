"""Conventions recognised: a wrong answer that another, undeclared choice would make right.

Each choice other than the declared one is tried on small problems that tell the choices apart. A
line says what to declare if it is meant; or, if problems that pass would fail under that choice,
which these are.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from spec.backends import Unsuitable
from spec.clause import Clause
from spec.kind import Guarded, Kind
from spec.kinds import kind_of
from spec.laws import CLAUSES
from spec.subject import Subject
from spec.trial import broken, keeps

LOOKS = "looks like"  # opens a line of advice
TAKES = "takes "  # opens most kinds of problem
PLAIN = "takes plain problems"


@dataclass(frozen=True)
class Recognised:
    """Conventions that a target seems to follow.

    choices: those that it follows, by name. costly: a line for each one that would correct some
    problems and break others which pass.
    """

    choices: Mapping[str, str] = field(default_factory=dict)
    costly: tuple[str, ...] = ()

    @property
    def advice(self) -> tuple[str, ...]:
        """A line for each convention: how to declare it, or why that makes matters worse."""
        return (*(f"{LOOKS} {declaring(*pair)}" for pair in self.choices.items()), *self.costly)


def recognised(raw: Subject, dtype: str, declared: Mapping[str, str], guard: Guarded) -> Recognised:
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
    found, costly = dict[str, str](), list[str]()
    for name, problems in kind.telling(dtype).items():
        known = {**chosen, **found}  # who is told one may need no other
        told_by = (kind.definition, kind.told_by.get(name, kind.definition))
        clauses = [CLAUSES[x] for x in dict.fromkeys(told_by)]  # who is right in all else
        fitted = [kind.fitted(mine, x) for x in problems if x.dtype in raw.dtypes]
        asked = [x for x in fitted if mine.kinds_of(x) <= mine.answers]
        if not asked or not all(c.binds(mine) for c in clauses) or right(clauses, known, asked):
            continue
        for choice in raw.choices[name]:
            after = {**known, name: choice}
            if choice != chosen[name] and right(clauses, after, asked):
                before, then = (guard(kind.under(raw, x)) for x in (known, after))
                cost = _cost(f"{name}={choice}", before, then, dtype)
                found |= {} if cost else {name: choice}
                costly += [cost] if cost else []
    return Recognised(found, tuple(costly))


def _cost(convention: str, before: Any, after: Any, dtype: str) -> str:
    """The line for a convention under which problems that pass would fail; "" if all still pass."""
    kind, fixed, spoiled = kind_of(before.about), list[str](), list[str]()
    for one, problems in {PLAIN: (kind.core(dtype),), **kind.kinds(dtype)}.items():
        if one == PLAIN or one in before.answers & after.answers:
            once, again = ([_passes(x, kind, problems) for x in (before, after)] for _ in range(2))
            if once == again and one.startswith(TAKES):  # some answers come and go
                fixed += [one.removeprefix(TAKES)] if once == [False, True] else []
                spoiled += [one.removeprefix(TAKES)] if once == [True, False] else []
    if not spoiled:
        return ""
    fits = f"the convention {convention} fits {(*fixed, 'some problems')[0]}"
    return f"{fits}, but would make others fail that pass now: {', '.join(spoiled)}"


def _passes(record: Any, kind: Kind, problems: Iterable[Any]) -> bool | None:
    """Whether the definition holds for problems; None where it claims nothing, as of no width."""
    clause = CLAUSES[kind.definition]
    with suppress(ArithmeticError):
        return all(broken(clause, record, kind.fitted(record, p)) is None for p in problems)
    return None


def declaring(name: str, choice: str) -> str:
    """A convention that was recognised, and how to declare it."""
    word = f"{name}={choice}"
    option = f'"{word}"' if " " in word else word
    return f"the convention {word}: declare it with --convention {option} if it is meant"
