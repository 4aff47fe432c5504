"""The specification as one page: all clauses by kind and section, with a filter, in one file."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass

from spec.certification.judging.binding import needs, without
from spec.certification.ledger.causes import ranges
from spec.certification.ledger.findings import grouped
from spec.certification.pages.formulas import formula
from spec.certification.pages.rendering import rendered
from spec.clause import Clause
from spec.kinds import KINDS, kind_of
from spec.mistake import Mistake
from spec.version import CURRENT


@dataclass(frozen=True)
class Entry:
    """A clause as the page shows it."""

    clause: Clause

    @property
    def bugs(self) -> list[Mistake]:
        """The known bugs that the clause must reject."""
        known = kind_of(self.clause.about).mistakes
        return [known[name] for name in sorted(self.clause.catches) if name in known]

    @property
    def check(self) -> str:
        """The source of the check, without its docstring."""
        lines, _ = inspect.getsourcelines(self.clause.check)
        text = inspect.cleandoc("".join(lines))
        before, quotes, rest = text.partition('    """')
        return before.rstrip() + rest.partition('"""')[2] if quotes else text


Part = tuple[str, str, list[Entry]]  # the numbers, the heading and the clauses of a section


def clauses_page(clauses: Mapping[str, Clause]) -> str:
    """Return the page. Raises Unsuitable where Jinja2 is not installed."""
    kinds = [(about, _chapter(about, clauses)) for about in KINDS]
    return rendered(
        "clauses.html",
        count=len(clauses),
        version=CURRENT,
        formula=formula,
        needs=needs,
        without=without,
        kinds=[(about, KINDS[about].noun, found) for about, found in kinds if found],
    )


def _chapter(about: str, clauses: Mapping[str, Clause]) -> list[Part]:
    """The sections of a kind, one for each module of clauses."""
    ours = [clause for clause in clauses.values() if clause.about == about]
    found = grouped((clause.check.__module__, Entry(clause)) for clause in ours)
    return [
        (ranges([x.clause.number for x in entries]), entries[0].clause.heading, entries)
        for entries in found.values()
    ]
