"""The options of a certification: a request."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from spec.backends import Unsuitable
from spec.backends.unknown import hint, unknown
from spec.boundary.choosing import PROCESS, chosen
from spec.certification.offered import DEVICE, LAYOUT, OPTIONS, PROFILE, SEED
from spec.certification.profiles import PROFILES, Profile
from spec.certification.starting import COMMAND, NAME
from spec.clause import Clause
from spec.kinds import KINDS
from spec.subject import Subject
from spec.version import no_clause

MULTIPLES = ("lengths", "widths")  # of which a target may take multiples alone
SEVERAL = ("tuple[str, ...]", "Mapping[str, str]")  # types of fields that take several values


@dataclass(frozen=True)
class Request:
    """All options of a certification; the same request gives the same verdicts.

    `offered` says of most fields what they are. target: as a person names it.
    specification: `module:name` of the clauses by number.
    secret: whether the judge draws the seed; nonce: a part of its commitment (`judging.edition`).
    replays: test only these problems, by clause and dtype (`judging.replaying`).
    call_timeout, diagnosis_timeout override `patience` and `diagnosis` of the profile.
    isolation is by default as `spec.boundary.choosing` says.
    """

    target: str = ""
    kind: str | None = None
    backend: str | None = None
    layout: str = LAYOUT
    api: str | None = None
    lengths: int = 1
    widths: int = 1
    description: str | None = None
    device: str = DEVICE
    compiled: str | None = None
    dtypes: tuple[str, ...] | None = None
    profile: str = PROFILE
    seed: int = SEED
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
        words = [f"{COMMAND} certify", *([shlex.quote(self.target)] if self.target else [])]
        given = {"profile": self.profile, "seed": self.seed, **self.asked}
        for name, option in OPTIONS.items():
            if name in given and option.repeated:
                words += _as_words(name, given[name])
        return " ".join(words)


def option_of(name: str) -> str:
    """The option for a field of a request: one value of several, where it has several."""
    return f"--{(name[:-1] if form_of(name) in SEVERAL else name).replace('_', '-')}"


@cache
def form_of(name: str) -> str:
    """The type of a field of a request, as it is written, without None."""
    return str(Request.__dataclass_fields__[name].type).removesuffix(" | None")


LISTED = tuple(name for name in OPTIONS if form_of(name) == SEVERAL[0])  # words


def _as_words(name: str, value: Any) -> list[str]:
    """The words of a command line for an option and its value."""
    word = option_of(name)
    if isinstance(value, Mapping):
        each = (f"{x}={' '.join(str(y).split())}" for x, y in value.items())
        quoted = shlex.quote if name == "deviations" else '"{}"'.format  # a reason may have quotes
        return [f"{word} {quoted(x)}" for x in each]
    if value is True:
        return [word]
    if isinstance(value, tuple):
        return [f"{word} {','.join(value)}"]
    said = f"{value:g}" if isinstance(value, float) else str(value)
    return [f"{word} {shlex.quote(said)}"]


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
