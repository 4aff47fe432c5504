"""Clauses: a clause is a numbered claim with a check that can be run.

A check compares numbers with the functions of `spec.comparison`. These raise `Violation` and return
nothing: no boolean result can be forgotten. Shapes are compared before values, and NaN fails
wherever it is not expected. A violation reports the element whose error is the largest multiple of
its error bound.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Literal

from spec.domain import Domain
from spec.subject import Subject
from spec.version import FIRST

Check = Callable[[Any, Any], None]  # takes a subject and a problem of its kind
Force = Literal["must", "should", "promise"]
NUMBER = re.compile(r"[A-Za-z]{1,8}[0-9]{1,6}")  # of a clause; its section's letter comes first


@dataclass(frozen=True)
class Evidence:
    """Why a clause is believed: a proof, or an exact run of the definition, and a control.

    function: returns a quantity that is zero according to the theorem. control: the same quantity
    with a deliberate error, so that it is not zero. sizes: in words, the sizes that the proof
    covers.
    """

    grade: Literal["proved", "proved at sizes", "checked exactly"]
    function: Callable[[], Any]
    control: Callable[[], Any]
    sizes: str


@dataclass(frozen=True, eq=False)
class Clause:
    """A numbered claim of the specification, with the check that tests it.

    since, until: the first and the last version of the specification that have the clause; `until`
    is None if no end is decided. superseded: the number of the clause that replaces it after that.
    promise: the promise of bits that it belongs to (`spec.promises`), if to one. Such a clause is
    required of targets that declare the promise; of others it is tried.
    """

    number: str
    check: Check
    over: Domain
    needs: frozenset[str]
    catches: frozenset[str]
    proof: Evidence | None = None
    force: Force = "must"
    effort: int = 1  # multiplies the usual number of examples
    since: str = FIRST
    until: str | None = None
    superseded: str | None = None
    promise: str = ""

    @property
    def name(self) -> str:
        return self.check.__name__

    @property
    def id(self) -> str:
        return f"{self.number}-{self.name}"

    @property
    def section(self) -> str:
        """The letter of the section, with which the number begins."""
        return section_of(self.number)

    @property
    def heading(self) -> str:
        """The heading of the section: the first line of the module's docstring."""
        return (import_module(self.check.__module__).__doc__ or "").partition("\n")[0]

    @property
    def sentence(self) -> str:
        """The claim in words: the first paragraph of the docstring."""
        return " ".join(self._paragraphs()[0].split())

    @property
    def formula(self) -> str:
        """The claim in symbols: the second paragraph of the docstring."""
        second = self._paragraphs()[1:2]
        return "\n".join(line.strip() for part in second for line in part.splitlines())

    @property
    def reasons(self) -> Iterator[tuple[bool, str]]:
        """The paragraphs of the reason: whether it is a formula, and its lines without indent."""
        for paragraph in self._paragraphs()[2:]:
            lines = paragraph.splitlines()
            symbolic = all(line.startswith("    ") for line in lines)
            yield symbolic, "\n".join(line.strip() for line in lines)

    @property
    def text(self) -> str:
        """The whole docstring, its formula indented."""
        sentence, _, *why = (*self._paragraphs(), "")
        formula = "\n".join(f"    {line}" for line in self.formula.splitlines())
        return "\n\n".join(part for part in (sentence, formula, *why) if part)

    @property
    def evidence(self) -> str:
        """The grade of the evidence and the sizes it covers; "checked" if there is no proof."""
        return "checked" if self.proof is None else f"{self.proof.grade} ({self.proof.sizes})"

    @property
    def span(self) -> str:
        """The first and the last version; "" if it was always there and no end is decided."""
        then = f", then {self.superseded}" if self.superseded else ""
        since = f"since {self.since}" if self.since != FIRST else ""
        until = f"until {self.until}{then}" if self.until is not None else ""
        return ", ".join(filter(None, (since, until)))

    def _paragraphs(self) -> list[str]:
        return inspect.cleandoc(self.check.__doc__ or self.name).split("\n\n")

    @property
    def about(self) -> str:
        """The kind of subject that the clause is about."""
        return self.over.about

    def binds(self, subject: Subject) -> bool:
        """Whether the clause applies to this subject: its kind, and all needed capabilities."""
        return self.about == subject.about and self.needs <= subject.offers


def section_of(number: str) -> str:
    """The letter of the section that a clause with this number belongs to."""
    return number.rstrip("0123456789")


def clause(
    number: str,
    *,
    over: Domain,
    needs: Iterable[str] = (),
    catches: Iterable[str],
    proof: Evidence | None = None,
    force: Force = "must",
    effort: int = 1,
    since: str = FIRST,
    until: str | None = None,
    superseded: str | None = None,
    promise: str = "",
) -> Callable[[Check], Clause]:
    """Return a decorator that turns a function into the clause `number`.

    `catches` names the known bugs of its chapter that the clause must reject. Capabilities that the
    domain always requires (causality, a mask) are added to `needs`.
    A clause with a promise has the force of one.
    """
    needed, caught = frozenset(needs) | over.needs, frozenset(catches)
    kept: Force = "promise" if promise else force
    rest = (proof, kept, effort, since, until, superseded, promise)
    return lambda check: Clause(number, check, over, needed, caught, *rest)


def leaving(clauses: Iterable[Clause]) -> Iterator[str]:
    """Yield a note on each clause that the next version of the specification will not have."""
    yield from (f"{c.number} is retired: {c.span}" for c in clauses if c.until is not None)


def clauses_of(sections: Iterable[ModuleType]) -> dict[str, Clause]:
    """The clauses of some sections by number: letters as they appear, numbers ascending."""
    found = [x for section in sections for x in vars(section).values() if isinstance(x, Clause)]
    letters = list(dict.fromkeys(clause.section for clause in found))
    order = sorted(found, key=lambda c: (letters.index(c.section), int(c.number[len(c.section) :])))
    return {clause.number: clause for clause in order}
