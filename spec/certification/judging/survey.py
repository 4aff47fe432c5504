"""What is known about a subject before any clause is run; a child tells it to its parent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spec.certification.judging.verdict import Verdict, verdict_from_json
from spec.certification.judging.verdict import verdict_to_json as as_json
from spec.certification.judging.versions import versions
from spec.certification.settings import Request, concerning, with_definition
from spec.certification.target.probing import Refusal
from spec.clause import Clause
from spec.kinds import kind_of
from spec.notation import DTYPES


@dataclass(frozen=True)
class Survey:
    """What is known before anything is run.

    about: the kind of subject. definition: the number of the clause without which nothing of
    this kind is certified. conventions: all that were chosen; defaults: what they are unless
    somebody chooses. deviations: number of a clause -> why it is known to be broken;
    strict: those of them that have to be seen.
    order: the numbers of all clauses, in reading order. items: (number of a clause, dtype) of
    all that is to be run. settled: the verdicts that need no run. advice: what conventions were
    recognised, and how to declare them. command: the command line that repeats it.
    """

    name: str
    about: str
    definition: str
    conventions: Mapping[str, str]
    defaults: Mapping[str, str]
    deviations: Mapping[str, str]
    strict: tuple[str, ...]
    order: tuple[str, ...]
    items: tuple[tuple[str, str], ...]
    settled: tuple[Verdict, ...]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...]
    advice: tuple[str, ...]
    versions: Mapping[str, str]
    command: str

    def to_json(self) -> dict[str, Any]:
        """The survey as JSON has it."""
        written = {name: getattr(self, name) for name in self.__dataclass_fields__}
        written["settled"] = [as_json(verdict) for verdict in self.settled]
        written["refusals"] = [vars(refusal) for refusal in self.refusals]
        return {n: dict(x) if isinstance(x, Mapping) else x for n, x in written.items()}

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> Survey:
        """The survey that `to_json` wrote."""
        fields = dict(written)
        fields["items"] = tuple((number, dtype) for number, dtype in fields["items"])
        fields["settled"] = tuple(verdict_from_json(v) for v in fields["settled"])
        fields["refusals"] = tuple(Refusal(**refusal) for refusal in fields["refusals"])
        for name in ("strict", "order", "notes", "advice"):
            fields[name] = tuple(fields[name])
        return Survey(**fields)


def unknown(request: Request, clauses: Mapping[str, Clause], about: str) -> Survey:
    """The survey of a target of which no more is known than what kind it is said to be."""
    definition = kind_of(about).definition
    mine = concerning(clauses, request, about, definition)
    return Survey(
        name=request.target,
        about=about,
        definition=definition,
        conventions=request.conventions,
        defaults={},
        deviations={},
        strict=(),
        order=tuple(mine),
        items=tuple((number, dtype) for dtype in request.dtypes or DTYPES for number in mine),
        settled=(),
        refusals=(),
        notes=(),
        advice=(),
        versions=versions(),
        command=with_definition(request, mine, definition).command(),
    )
