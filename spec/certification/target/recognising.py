"""Conventions recognised: a wrong answer that another, undeclared choice would make right.

Each choice other than the declared one is tried on small problems that tell the choices apart. A
line says what to declare if it is meant; or, if problems that pass would fail under that choice,
which these are.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from spec.abilities import Guarded
from spec.backends import Unsuitable
from spec.clause import Clause
from spec.kind import Kind
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
    problems and break others which pass. everywhere: the names of those that show in plain problems
    already, and so in nearly all others; they change which problems the target can get.
    """

    choices: Mapping[str, str] = field(default_factory=dict)
    costly: tuple[str, ...] = ()
    everywhere: frozenset[str] = frozenset()

    @property
    def advice(self) -> tuple[str, ...]:
        """How to declare the conventions, and why some others make matters worse."""
        return (*[f"{LOOKS} {declaring(self.choices)}"] * bool(self.choices), *self.costly)


def recognised(raw: Subject, dtype: str, declared: Mapping[str, str], guard: Guarded) -> Recognised:
    """Conventions that `raw` seems to follow, beyond what it and its caller declare.

    All that fit are tried together, as one may be right only with another. As long as problems
    that pass would fail under them, the one that costs most is left out.
    """
    chosen, costly = {**raw.chosen, **declared}, dict[tuple[str, str], str]()
    before = guard(kind_of(raw.about).conventions.under(raw, chosen))

    def changed(found: Mapping[str, str]) -> tuple[list[str], list[str]]:
        after = _under(raw, {**chosen, **found}, guard)
        return ([], []) if after is None else _changed(before, after, dtype)

    def spoiled_without(name: str) -> int:
        return len(changed({n: x for n, x in found.items() if n != name})[1])

    while found := _fitting(raw, dtype, chosen, guard, costly):
        if not (lost := changed(found)[1]):
            break
        worst = min(found, key=spoiled_without)
        fixed, spoiled = changed({worst: found[worst]})
        line = _cost(f"{worst}={found[worst]}", fixed, spoiled or lost)
        costly[worst, found[worst]] = line
    return Recognised(found, tuple(costly.values()), _everywhere(raw, found, dtype))


def _everywhere(raw: Subject, found: Mapping[str, str], dtype: str) -> frozenset[str]:
    """The conventions that show in the basic case and change which problems the target can get.

    One that only widens bounds, as for products in TF32, changes no problem.
    """
    kind, under = kind_of(raw.about), kind_of(raw.about).conventions.under
    usual, telling = raw.kinds_of(kind.core(dtype)), kind.conventions.telling(dtype)
    plain = {n: x for n, x in found.items() if all(raw.kinds_of(p) <= usual for p in telling[n])}
    before = under(raw, raw.chosen).answers
    seen = {n: under(raw, {**raw.chosen, n: x}).answers for n, x in plain.items()}
    return frozenset(n for n, answers in seen.items() if answers != before)


def _fitting(
    raw: Subject, dtype: str, chosen: Mapping[str, str], guard: Guarded, barred: Container[Any]
) -> dict[str, str]:
    """Choices under which problems are right that are wrong under those before, one by one."""
    conventions = kind_of(raw.about).conventions
    mine = conventions.under(raw, chosen)
    found: dict[str, str] = {}
    for name in conventions.telling(dtype):
        known = {**chosen, **found}  # who is told one may need no other
        for clauses, asked in _asked(mine, name, dtype):
            if _right(_under(raw, known, guard), clauses, asked):
                continue
            for choice in raw.choices[name]:
                if choice != chosen[name] and (name, choice) not in barred:
                    after = _under(raw, {**known, name: choice}, guard)
                    found |= {name: choice} if _right(after, clauses, asked) else {}
            break
    return found


def _asked(record: Any, name: str, dtype: str) -> Iterator[tuple[list[Clause], list[Any]]]:
    """Yield the clauses and the problems of each test that tells the choices of a convention."""
    conventions, first = kind_of(record.about).conventions, kind_of(record.about).definition
    told_by = (first, conventions.told_by.get(name, first))
    usual, others = conventions.telling(dtype)[name], conventions.telling_else(dtype)
    asked = _supported(record, usual) or _supported(record, others.get(name, ()))
    also = _supported(record, conventions.telling_also(dtype).get(name, ()))
    for numbers, problems in ((told_by, asked), ((first,), also)):
        clauses = [CLAUSES[x] for x in dict.fromkeys(numbers)]  # who is right in all else
        if problems and all(clause.binds(record) for clause in clauses):
            yield clauses, problems


def _supported(record: Any, problems: Iterable[Any]) -> list[Any]:
    """The problems that a record supports, in its sizes."""
    fitted = kind_of(record.about).functions.fitted
    every = [fitted(record, x) for x in problems if x.dtype in record.dtypes]
    return [x for x in every if record.kinds_of(x) <= record.answers]


def _under(raw: Subject, choices: Mapping[str, str], guard: Guarded) -> Any:
    """A record under conventions; None if it was written by hand, as it is what it is then."""
    with suppress(Unsuitable):
        return guard(kind_of(raw.about).conventions.under(raw, choices))
    return None


def _right(record: Any, clauses: Iterable[Clause], problems: Iterable[Any]) -> bool:
    """Whether there is a record that keeps clauses on problems, in its sizes."""
    if record is None:
        return False
    fitted = kind_of(record.about).functions.fitted
    every = [fitted(record, problem) for problem in problems]
    return all(keeps(clause, record, p) for clause in clauses for p in every)


def _cost(convention: str, fixed: Sequence[str], spoiled: Sequence[str]) -> str:
    """The line for a convention under which problems that pass would fail."""
    fits = f"the convention {convention} fits {(*fixed, 'some problems')[0]}"
    return f"{fits}, but would make others fail that pass now: {', '.join(spoiled)}"


def _changed(before: Any, after: Any, dtype: str) -> tuple[list[str], list[str]]:
    """The kinds of problem that are right under other conventions alone, and those wrong there."""
    kind, fixed, spoiled = kind_of(before.about), list[str](), list[str]()
    for one, problems in {PLAIN: (kind.core(dtype),), **kind.trials.kinds(dtype)}.items():
        if one == PLAIN or one in before.answers & after.answers:
            once, again = ([_passes(x, kind, problems) for x in (before, after)] for _ in range(2))
            if once == again and one.startswith(TAKES):  # some answers come and go
                fixed += [one.removeprefix(TAKES)] if once == [False, True] else []
                spoiled += [one.removeprefix(TAKES)] if once == [True, False] else []
    return fixed, spoiled


def _passes(record: Any, kind: Kind, problems: Iterable[Any]) -> bool | None:
    """Whether the definition holds for problems; None where it claims nothing, as of no width."""
    clause, fitted = CLAUSES[kind.definition], kind.functions.fitted
    with suppress(ArithmeticError):
        return all(broken(clause, record, fitted(record, p)) is None for p in problems)
    return None


def declaring(choices: Mapping[str, str]) -> str:
    """Conventions that were recognised, and how to declare them."""
    words = [f"{name}={choice}" for name, choice in choices.items()]
    options = " ".join(option(name, choice) for name, choice in choices.items())
    if len(words) == 1:
        return f"the convention {words[0]}: declare it with {options} if it is meant"
    return f"the conventions {' and '.join(words)}: declare them with {options} if they are meant"


def option(name: str, choice: str) -> str:
    """The option of the command line that declares a convention."""
    words = f"{name}={choice}"
    return f'--convention "{words}"' if " " in words else f"--convention {words}"
