"""What a clause is, and how it compares numbers.

A comparison raises `Violation` and returns nothing: there is no boolean to
forget. Shapes come before values, NaN is wrong wherever it is not asked for,
and what is reported is the place where the error is the largest multiple of
its budget.
"""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any, Literal

from spec.domain import Domain
from spec.subject import Subject
from spec.version import FIRST

Check = Callable[[Any, Any], None]  # of a subject and a problem of its kind
Force = Literal["must", "should"]
NUMBER = re.compile(r"[A-Za-z]{1,8}[0-9]{1,6}")  # of a clause: the letter of its section first


@dataclass(frozen=True)
class Evidence:
    """Why a clause is believed: a proof, or an exact run of the definition, and its control.

    function: returns what the theorem says is zero. control: the same with a
    fault in it, so not zero. sizes: in words, what the proof quantifies over.
    """

    grade: Literal["proved", "proved at sizes", "checked exactly"]
    function: Callable[[], Any]
    control: Callable[[], Any]
    sizes: str


@dataclass(frozen=True, eq=False)
class Clause:
    """A numbered sentence of the specification that can be run.

    since, until: the first version of the specification that has it, and the last, if that is
    decided. superseded: the number of the clause that replaces it after that.
    """

    number: str
    check: Check
    over: Domain
    needs: frozenset[str]
    catches: frozenset[str]
    proof: Evidence | None = None
    force: Force = "must"
    effort: int = 1  # how many times the usual number of examples it is worth
    since: str = FIRST
    until: str | None = None
    superseded: str | None = None

    @property
    def name(self) -> str:
        return self.check.__name__

    @property
    def id(self) -> str:
        return f"{self.number}-{self.name}"

    @property
    def section(self) -> str:
        """The letter of the section, which opens the number."""
        return section_of(self.number)

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
    def text(self) -> str:
        """The whole docstring, its formula indented."""
        sentence, _, *why = (*self._paragraphs(), "")
        formula = "\n".join(f"    {line}" for line in self.formula.splitlines())
        return "\n\n".join(part for part in (sentence, formula, *why) if part)

    @property
    def evidence(self) -> str:
        """How well the claim is founded: a grade, and what it quantifies over."""
        return "checked" if self.proof is None else f"{self.proof.grade} ({self.proof.sizes})"

    @property
    def span(self) -> str:
        """Its first and last version; "" where it was always there and no end is decided."""
        then = f", then {self.superseded}" if self.superseded else ""
        since = f"since {self.since}" if self.since != FIRST else ""
        until = f"until {self.until}{then}" if self.until is not None else ""
        return ", ".join(filter(None, (since, until)))

    def _paragraphs(self) -> list[str]:
        return inspect.cleandoc(self.check.__doc__ or self.name).split("\n\n")

    @property
    def about(self) -> str:
        """The kind of subject that it speaks of."""
        return self.over.about

    def binds(self, subject: Subject) -> bool:
        """Whether the clause says anything about this subject."""
        return self.about == subject.about and self.needs <= subject.offers


def section_of(number: str) -> str:
    """The letter of the section that a clause of this number stands in."""
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
) -> Callable[[Check], Clause]:
    """Turn a function into the clause `number`.

    `catches` names the mistakes of its chapter that the clause must reject.
    What the domain cannot do without (a causal problem, a mask) is needed as well.
    """
    needed, caught = frozenset(needs) | over.needs, frozenset(catches)
    rest = (proof, force, effort, since, until, superseded)
    return lambda check: Clause(number, check, over, needed, caught, *rest)


def leaving(clauses: Iterable[Clause]) -> Iterator[str]:
    """A note on each of these clauses that the next version of the specification will not have."""
    yield from (f"{c.number} is retired: {c.span}" for c in clauses if c.until is not None)


def clauses_of(sections: Iterable[ModuleType]) -> dict[str, Clause]:
    """The clauses of some sections by number: the letters as they come, each from 1 on."""
    found = [x for section in sections for x in vars(section).values() if isinstance(x, Clause)]
    letters = list(dict.fromkeys(clause.section for clause in found))
    order = sorted(found, key=lambda c: (letters.index(c.section), int(c.number[len(c.section) :])))
    return {clause.number: clause for clause in order}
