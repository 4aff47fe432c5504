"""The options of a certification: a request."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spec.backends import Unsuitable
from spec.backends.unknown import hint, unknown
from spec.boundary.choosing import FORK, NONE, PROCESS, chosen
from spec.certification.profiles import PROFILES, Profile
from spec.certification.starting import COMMAND, NAME
from spec.clause import Clause
from spec.kinds import KINDS
from spec.subject import Subject
from spec.version import no_clause

# Of arrays, that some kind is taken in; the first that is met is what all are taken in.
LAYOUTS = tuple(dict.fromkeys(layout for kind in KINDS.values() for layout in kind.targets.layouts))

COMPILING = 4.0  # times the patience for a call that may compile: that alone can take half a minute
MULTIPLES = {"lengths": "sequence lengths", "widths": "head sizes"}  # may be declared multiples
DIALECTS = tuple(dict.fromkeys(x for kind in KINDS.values() for x in kind.targets.spellings))
# What says how a target is called.
HOW = ("kind", "backend", "description", "layout", "api", *MULTIPLES, "device", "compiled")
ISOLATIONS = (PROCESS, FORK, NONE)
LISTED = ("dtypes", "clauses", "promises")  # words; their options have names without an s
LIMITS = ("budget", "call_timeout", "diagnosis_timeout")  # seconds
STOPS = ("fail_fast", "isolate")  # when a run stops, and whether it goes on after crashes


@dataclass(frozen=True)
class Request:
    """All options of a certification; the same request gives the same verdicts.

    target: as a person names it. kind: the kind of target, if it cannot be detected.
    description: how the target is built and called, if not in the usual way: a file, or the name
    of a description that comes with this package.
    api: the library whose argument names it uses. lengths, widths: use only multiples of these.
    compiled: how the target is compiled (`spec.backends.compiling`), if it is.
    specification: `module:name` of the clauses by number.
    deviations: number of a clause -> why it is known to fail. promises: of bits, declared.
    call_timeout, diagnosis_timeout: seconds that override `patience` and `diagnosis` of the
    profile. replays: test only these problems, by clause and dtype (`judging.replaying`).
    isolation: one of `ISOLATIONS`; by default as `spec.boundary.choosing` says.
    secret: whether the judge draws the seed; nonce: a part of its commitment (`judging.edition`).
    The other fields are the options of the command line.
    """

    target: str = ""
    kind: str | None = None
    backend: str | None = None
    layout: str = "bhld"
    api: str | None = None
    lengths: int = 1
    widths: int = 1
    description: str | None = None
    device: str = "cpu"
    compiled: str | None = None
    dtypes: tuple[str, ...] | None = None
    profile: str = "standard"
    seed: int = 0
    secret: bool = False
    nonce: str = ""
    clauses: tuple[str, ...] | None = None
    conventions: Mapping[str, str] = field(default_factory=dict)
    deviations: Mapping[str, str] = field(default_factory=dict)
    promises: tuple[str, ...] = ()
    fail_fast: bool = False
    budget: float | None = None
    jobs: int = 1
    scheduler: str | None = None
    isolate: bool = False
    isolation: str | None = None
    call_timeout: float | None = None
    diagnosis_timeout: float | None = None
    where: str = ""
    replays: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    specification: str = f"{NAME}:CLAUSES"

    def to_json(self) -> dict[str, Any]:
        """The request as JSON."""
        return {n: dict(x) if isinstance(x, Mapping) else x for n, x in vars(self).items()}

    @staticmethod
    def from_json(written: Mapping[str, Any]) -> Request:
        """The request that `to_json` wrote."""
        listed = {n: None if written[n] is None else tuple(written[n]) for n in LISTED}
        return Request(**{**written, **listed})

    @property
    def thoroughness(self) -> Profile:
        """The profile, with this request's seconds for a call and for causes.

        More time for causes is also more time for small examples, by the same factor.
        """
        profile = PROFILES[self.profile]
        patience = self.call_timeout or profile.patience
        diagnosis = self.diagnosis_timeout or profile.diagnosis
        reduction = profile.reduction * max(1.0, diagnosis / profile.diagnosis)
        return replace(profile, patience=patience, diagnosis=diagnosis, reduction=reduction)

    @property
    def asked(self) -> Mapping[str, Any]:
        """The options that differ from their defaults, except the target."""
        usual = Request(self.target)
        return {name: x for name, x in vars(self).items() if x != getattr(usual, name)}

    @property
    def apart(self) -> bool:
        """Whether the target shares no process with its judge."""
        how = self.isolation or chosen(self.target, self.device, os.getcwd())
        return how == PROCESS

    @property
    def multiples(self) -> Mapping[str, int]:
        """The declared divisors of lengths and widths, if there are any."""
        return {name: getattr(self, name) for name in MULTIPLES if name in self.asked}

    def command(self) -> str:
        """The command line that repeats it, with every option that a verdict may depend on."""
        asked = self.asked
        words = [f"{COMMAND} certify", self.target and shlex.quote(self.target)]
        words += [f"--{name} {shlex.quote(str(asked[name]))}" for name in HOW if name in asked]
        for name in LISTED:
            if listed := getattr(self, name):
                words.append(f"--{name[:-1]} {','.join(listed)}")
        words += [f"--where {shlex.quote(self.where)}"] * bool(self.where)
        words += [f'--convention "{name}={value}"' for name, value in self.conventions.items()]
        declared = {n: " ".join(reason.split()) for n, reason in self.deviations.items()}
        words += [f"--deviation {shlex.quote(f'{n}={x}')}" for n, x in declared.items()]
        words += [f"--isolation {self.isolation}"] * ("isolation" in asked)
        words.append(f"--profile {self.profile} --seed {self.seed}")
        words += [f"--{n.replace('_', '-')} {asked[n]:g}" for n in LIMITS if n in asked]
        return " ".join([*words, *(f"--{n.replace('_', '-')}" for n in STOPS if n in asked)])


def check_conventions(record: Subject, declared: Mapping[str, str]) -> None:
    """Raise Unsuitable for an unknown convention, or an unknown choice."""
    for name, value in {**record.conventions, **declared}.items():
        if not record.choices:
            raise Unsuitable(f"--convention {name}={value}: there is none for {record.name}")
        if name not in record.choices:
            raise _other_convention(record, name)
        if value not in record.choices[name]:
            raise unknown(f"choice for the convention {name}", value, record.choices[name])


def _other_convention(record: Subject, name: str) -> Unsuitable:
    """The error for a convention of another kind of target; it names these kinds."""
    has = [kind.noun for kind in KINDS.values() if name in kind.truth().choices]
    if not has:
        return unknown("convention", name, record.choices)
    whose = f"the convention {name!r} is for {' or '.join(has)}, not {KINDS[record.about].noun}"
    mine = f"choose from {', '.join(record.choices)}"
    return Unsuitable(f"{whose}: {mine} (`{COMMAND} list conventions` has all of them)")


def with_definition(request: Request, clauses: Mapping[str, Clause], definition: str) -> Request:
    """The request, with the definition's clause added last if the selection omits it.

    Without the definition, a certificate would be incomplete; the selected clauses come first.
    """
    wanted, first = request.clauses, clauses.get(definition)
    if wanted is None or first is None or any(_fits(first, word) for word in wanted):
        return request
    return replace(request, clauses=(*wanted, definition))


def selected(clauses: Mapping[str, Clause], wanted: tuple[str, ...] | None) -> tuple[Clause, ...]:
    """The clauses with these numbers, names or sections; None is all. Raises Unsuitable."""
    if wanted is None:
        return tuple(clauses.values())
    for word in wanted:
        if not any(_fits(clause, word) for clause in clauses.values()):
            names = [name for x in clauses.values() for name in (x.number, x.name)]
            raise Unsuitable(no_clause(word, COMMAND) + hint(word, names))
    return tuple(c for c in clauses.values() if any(_fits(c, word) for word in wanted))


def concerning(
    clauses: Mapping[str, Clause], wanted: tuple[str, ...] | None, about: str
) -> Mapping[str, Clause]:
    """The selected clauses about one kind of subject, by number.

    Raises Unsuitable for a name that fits none of them.
    """
    chosen = {c.number: c for c in selected(clauses, wanted) if c.about == about}
    for word in wanted or ():
        if not any(_fits(clause, word) for clause in chosen.values()):
            found = {clause.about for clause in clauses.values() if _fits(clause, word)}
            what = " and ".join(sorted(found))
            raise Unsuitable(f"clause {word!r} is about {what}, and the target about {about}")
    return chosen


def _fits(clause: Clause, word: str) -> bool:
    topic = KINDS[clause.about].sections.get(clause.section)
    return word in (clause.number, clause.name, clause.section, clause.id, topic)
