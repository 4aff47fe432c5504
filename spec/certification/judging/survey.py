"""The facts about a subject before any clause is run; a child sends them to its parent."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from spec.backends.elsewhere import home
from spec.certification.judging.verdict import Verdict, verdict_from_json, verdict_to_json
from spec.certification.settings import Request, concerning, with_definition
from spec.certification.target.probed import Refusal
from spec.certification.target.versions import versions_of
from spec.clause import Clause
from spec.kinds import kind_of
from spec.notation import DTYPES


def told() -> Mapping[str, Any]:
    """The facts that a target in a process of its own tells, as fields of a survey."""
    there = home()
    known = {} if there is None else there.loaded()
    return {"loaded": (*known.get("files", ()),), "calls": (*known.get("calls", ()),)}


@dataclass(frozen=True)
class Survey:
    """The facts that are known before any clause is run.

    about: the kind of subject. definition: the number of the clause without which nothing of this
    kind is certified. conventions: all choices; defaults: the choices without a declaration;
    declares: those that the target itself declares. deviations: number of a clause -> why it is
    known to fail; strict: those of them that must fail; none if few shapes are tested, as a failure
    may need others. order: the numbers of all clauses, in reading order. items: (number, dtype) of
    all that is to be run, in this order. settled: the verdicts that need no run. advice:
    conventions that the target seems to follow, and how to declare them. command: the command line
    that repeats the run. programs: how many were compiled so far. source: `file:line` of the
    target's definition, or "" if it is not known. supports: the capabilities that a target has in
    each format that it has, after probing. loaded: the files that its process has loaded.
    calls: functions of its library for attention that it called.
    """

    name: str
    about: str
    definition: str
    conventions: Mapping[str, str]
    order: tuple[str, ...]
    items: tuple[tuple[str, str], ...]
    command: str
    defaults: Mapping[str, str] = field(default_factory=dict)
    declares: Mapping[str, str] = field(default_factory=dict)
    deviations: Mapping[str, str] = field(default_factory=dict)
    strict: tuple[str, ...] = ()
    settled: tuple[Verdict, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    notes: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    programs: int = 0
    source: str = ""
    versions: Mapping[str, str] = field(default_factory=versions_of)
    supports: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    loaded: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The survey as JSON."""
        settled = [verdict_to_json(verdict) for verdict in self.settled]
        refusals = [vars(refusal) for refusal in self.refusals]
        written = {**vars(self), "settled": settled, "refusals": refusals}
        return {n: dict(x) if isinstance(x, Mapping) else x for n, x in written.items()}

    @classmethod
    def from_json(cls, written: Mapping[str, Any]) -> Self:
        """The survey that `to_json` wrote."""
        fields = dict(written)
        fields["items"] = tuple((number, dtype) for number, dtype in fields["items"])
        fields["settled"] = tuple(verdict_from_json(v) for v in fields["settled"])
        fields["refusals"] = tuple(Refusal(**refusal) for refusal in fields["refusals"])
        for name in ("strict", "order", "notes", "advice", "loaded", "calls"):
            fields[name] = tuple(fields[name])
        fields["supports"] = {dtype: tuple(x) for dtype, x in fields["supports"].items()}
        return cls(**fields)


def unknown(request: Request, clauses: Mapping[str, Clause], about: str) -> Survey:
    """The survey of a target of which only the kind is known."""
    definition = kind_of(about).definition
    request = with_definition(request, clauses, definition)
    mine = concerning(clauses, request.clauses, about)
    return Survey(
        name=request.target,
        about=about,
        definition=definition,
        conventions=request.conventions,
        order=tuple(mine),
        items=tuple((number, dtype) for dtype in request.dtypes or DTYPES for number in mine),
        command=request.command(),
    )
