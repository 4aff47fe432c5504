"""The data of the pages: the clauses, the known bugs and the ledger, read once.

A known bug is found by its kind and its name: two kinds may have bugs of the same name.
"""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spec.certification.judging.verdict import Verdict
from spec.certification.ledgers import side_by_side
from spec.certification.pages.judged import Judged
from spec.clause import Clause
from spec.kinds import KINDS
from spec.laws import CLAUSES, SECTIONS
from spec.mistake import Mistake

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "implementations" / "ledger"
BROKEN = ("violated", "crashed", "deviates")  # outcomes that mean that a clause is not met
SOURCE = os.environ.get("SITE_SOURCE", "")  # where the files of this commit can be read
ENTRY = re.compile(
    r'^### <a id="([\w-]+)"></a>\1:? (.+?)\n(.+?)(?=^###? |\Z)', re.M | re.S
)  # of spec/incidents.md
CLASS = re.compile(r"^## (.+)$", re.M)


@dataclass(frozen=True)
class Bug:
    """A known bug with its kind of target. clauses: the numbers of those that reject it."""

    about: str
    mistake: Mistake
    clauses: tuple[str, ...]

    @property
    def path(self) -> str:
        """Its page."""
        return f"bugs/{self.about}/{self.mistake.name}.md"


@dataclass(frozen=True)
class Incident:
    """A class of real bugs, or a published system: an entry of spec/incidents.md."""

    name: str
    title: str
    group: str
    text: str
    reported: str

    @property
    def path(self) -> str:
        """Its page."""
        return f"bugs/{self.name}.md"


@dataclass(frozen=True)
class Breach:
    """An implementation that breaks a clause: its verdicts, and the remarks on the causes."""

    judged: Judged
    verdicts: tuple[Verdict, ...]

    @property
    def said(self) -> tuple[Mapping[str, str], ...]:
        """The remarks on the causes of these verdicts, each once; else on the clause itself."""
        causes = self.judged.certificate.causes
        places = dict.fromkeys(place for v in self.verdicts for place in v.causes)
        found = [{"cause": causes[x].sentence, **self.judged.said(causes[x])} for x in places]
        number = self.verdicts[0].clause
        return (*found, *(x for x in self.judged.causes if x.get("sentence") == number))


@dataclass(frozen=True)
class Facts:
    """All of them."""

    clauses: Mapping[str, Clause]
    judged: tuple[Judged, ...]

    @cached_property
    def bugs(self) -> Mapping[tuple[str, str], Bug]:
        """The known bugs, by kind and name."""
        rejecting: dict[tuple[str, str], list[str]] = {}
        for clause in self.clauses.values():
            for name in clause.catches:
                rejecting.setdefault((clause.about, name), []).append(clause.number)
        return {
            (about, name): Bug(about, mistake, tuple(rejecting.get((about, name), ())))
            for about, kind in KINDS.items()
            for name, mistake in kind.mistakes.items()
        }

    @cached_property
    def incidents(self) -> Mapping[str, Incident]:
        """The classes of bugs and the published systems, by name."""
        text = (ROOT / "spec" / "incidents.md").read_text(encoding="utf-8")
        groups = [(x.start(), x[1]) for x in CLASS.finditer(text)]
        found = {}
        for entry in ENTRY.finditer(text):
            group = max((x for x in groups if x[0] < entry.start()), default=(0, ""))[1]
            words, _, rest = entry[3].partition("\n- ")
            reported = re.search(r"(?:^|\n- )Reported: (.+)", f"\n- {rest}")
            told = reported[1] if reported else ""
            found[entry[1]] = Incident(entry[1], entry[2], group, words.strip(), told)
        return found

    @cached_property
    def breaches(self) -> Mapping[str, tuple[Breach, ...]]:
        """By clause, the implementations that break it."""
        found: dict[str, list[Breach]] = {}
        for judged in self.judged:
            by_clause: dict[str, list[Verdict]] = {}
            for verdict in judged.certificate.verdicts:
                if verdict.outcome in BROKEN:
                    by_clause.setdefault(verdict.clause, []).append(verdict)
            for number, verdicts in by_clause.items():
                found.setdefault(number, []).append(Breach(judged, tuple(verdicts)))
        return {number: tuple(breaches) for number, breaches in found.items()}

    @cached_property
    def tested(self) -> Mapping[str, int]:
        """By clause, how many implementations were tested with it."""
        found: dict[str, int] = {}
        for judged in self.judged:
            for number in {v.clause for v in judged.certificate.verdicts if v.ran}:
                found[number] = found.get(number, 0) + 1
        return found

    def of_incident(self, name: str) -> list[Bug]:
        """The known bugs of a class."""
        return [bug for bug in self.bugs.values() if bug.mistake.incident == name]


def facts(ledgers: Iterable[Path] | None = None) -> Facts:
    """The facts; of all ledgers, unless some are given."""
    files = sorted(LEDGER.glob("*.toml")) if ledgers is None else ledgers
    paths = [str(path) for path in files]
    return Facts(CLAUSES, side_by_side(paths) if paths else ())


def letters(clauses: Mapping[str, Clause]) -> Mapping[str, list[Any]]:
    """By the letter of a section, the modules that it consists of."""
    found: dict[str, list[Any]] = {}
    for module in SECTIONS:
        numbers = [x for x in vars(module).values() if isinstance(x, Clause)]
        if numbers and numbers[0].number in clauses:
            found.setdefault(numbers[0].section, []).append(module)
    return found


def clauses_of(module: Any) -> Iterator[Clause]:
    """The clauses that a module defines."""
    yield from (x for x in vars(module).values() if isinstance(x, Clause))


def place_of(function: Any) -> str:
    """The file and the line of a function, a link where the files can be read."""
    function = inspect.unwrap(function)
    path = Path(inspect.getsourcefile(function) or "").resolve().relative_to(ROOT)
    line = inspect.getsourcelines(function)[1]
    words = f"`{path.as_posix()}`, line {line}"
    return f"[{words}]({SOURCE}/{path.as_posix()}#L{line})" if SOURCE else words
