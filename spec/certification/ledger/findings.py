"""The data of a certificate: verdicts with a ledger that adds up, and how to repeat the run."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from spec.certification.judging.cause import Cause, Region
from spec.certification.judging.verdict import INTERFERED, OUTCOMES, Verdict, verdict_to_json
from spec.certification.ledger.files import in_lines, written
from spec.certification.target.probed import Refusal
from spec.printable import all_printable
from spec.promises import PROMISES
from spec.version import FIRST

FORMAT = 1  # of certificates as JSON: spec/schema/certificate-1.json
Key = TypeVar("Key")
Value = TypeVar("Value")

# How a clause about bits fails if a value is beyond its bound, or has another dtype or shape.
OTHERWISE = re.compile(r" within (?!0(?: |$))| has the wrong ")


@dataclass(frozen=True)
class Promise:
    """A promise of bits in a certificate, whose clauses were run.

    declared: it was required. problems: the number tested. dtypes: the formats that break it.
    smallest: the smallest problem that breaks it, in a line, if it was not required.
    """

    declared: bool
    kept: bool
    problems: int
    dtypes: tuple[str, ...]
    smallest: str

    @classmethod
    def of(cls, verdicts: "list[Verdict]") -> "Promise":
        """The promise that these verdicts are about."""
        broken = [v for v in verdicts if v.outcome != "holds"]
        return cls(
            declared=any(v.force == "must" for v in verdicts),
            kept=not broken,
            problems=sum(v.examples for v in verdicts),
            dtypes=tuple(dict.fromkeys(v.dtype for v in broken)),
            smallest=min((v.smallest for v in broken if v.smallest), key=len, default=""),
        )


def _tells_bits(verdict: Verdict) -> bool:
    """Whether a clause about bits passes, or fails because they differ."""
    return verdict.outcome != "violated" or not OTHERWISE.search(verdict.message)


@dataclass(frozen=True)
class Findings:
    """The results for one implementation.

    conventions: all choices, with the rounding model of each 16-bit dtype; defaults: the choices
    without a declaration; declares: choices that the target itself declares. coverage: for each
    dtype the number of rows tested, and the shares of which only the range of the values was
    checked, or of whose gradients nothing is known. largest: the largest of each size of the
    problems that were judged, by name; empty if it is not known. timings: seconds in total, and the
    seconds of all processes together by part, whose sum may be larger: loading and probing, the
    implementation, the specification (definition, bounds and comparisons), making counterexamples
    smaller, and others. advice: undeclared conventions that the target seems to follow. where: the
    condition of the problems that it was judged on. causes: failures, by sets of problems; region:
    the rest. compiled: how its library compiled it, if requested. command: repeats the run.
    programs: how many were compiled, as far as compilers report. specification: its version.
    source: `file:line` of the target's definition, or "" if it is not known. about: the kind of
    subject. definition: the number of the clause without which nothing of this kind is certified.
    All text is printable, so that no text of a target adds a line to a report.
    """

    name: str
    verdicts: tuple[Verdict, ...]
    conventions: Mapping[str, str]
    coverage: Mapping[str, Mapping[str, float]]
    timings: Mapping[str, float]
    versions: Mapping[str, str]
    seed: int
    profile: str
    command: str
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...]
    advice: tuple[str, ...]
    about: str
    definition: str
    defaults: Mapping[str, str]
    causes: tuple[Cause, ...] = ()
    region: Region = field(default_factory=Region)
    where: str = ""
    compiled: str | None = None
    programs: int = 0
    specification: str = FIRST
    declares: Mapping[str, str] = field(default_factory=dict)
    source: str = ""
    largest: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, x in vars(self).items():
            object.__setattr__(self, name, all_printable(x))

    @property
    def passed(self) -> bool:
        """Whether every required clause that applies passes, and the definition was run."""
        return self.exit_code == 0

    @property
    def interfered(self) -> bool:
        """Whether the run ended because the target interfered with its judge."""
        unjudged = (verdict for verdict in self.verdicts if verdict.outcome == "blocked")
        return any(verdict.message.startswith(INTERFERED) for verdict in unjudged)

    @property
    def exit_code(self) -> int:
        """0 certified, 1 a required clause fails, 3 incomplete, or the target interfered."""
        if any(map(blocks, self.verdicts)) and not self.interfered:
            return 1
        stopped = any(v.outcome in ("blocked", "crashed") for v in self.verdicts) or any(
            refusal.crashed for refusal in self.refusals
        )
        compared = any(v.clause == self.definition and v.ran for v in self.verdicts)
        return 3 if stopped or not compared else 0

    @property
    def ledger(self) -> Mapping[str, int]:
        """The number of verdicts of each outcome."""
        counted = Counter(verdict.outcome for verdict in self.verdicts)
        return {outcome: counted[outcome] for outcome in OUTCOMES}

    @property
    def promises(self) -> Mapping[str, Promise]:
        """The promises of bits whose clauses were run, by name.

        A clause that fails for another reason, such as a wrong dtype, says nothing of bits.
        """
        ran = grouped((v.promise, v) for v in self.verdicts if v.ran and _tells_bits(v))
        return {name: Promise.of(ran[name]) for name in PROMISES if name in ran}

    @property
    def deviations(self) -> tuple[str, ...]:
        """The numbers of the clauses that fail as declared."""
        return tuple(dict.fromkeys(v.clause for v in self.verdicts if v.outcome == "deviates"))

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes that were planned, in the order of the verdicts."""
        return tuple(dict.fromkeys(verdict.dtype for verdict in self.verdicts))

    @property
    def worst(self) -> float:
        """The largest error divided by its bound, of clauses that pass."""
        return max((v.worst for v in self.verdicts if v.outcome == "holds"), default=0.0)

    @property
    def failures(self) -> tuple[Verdict, ...]:
        """The failing verdicts, required clauses first; none of bits that nobody promised."""
        found = (v for v in self.verdicts if v.outcome == "violated")
        violated = [v for v in found if v.force != "promise"]
        return tuple(sorted(violated, key=lambda v: v.force != "must"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it as JSON, whole or not at all."""
        written(Path(path), in_lines(self.to_json()))

    def to_json(self) -> dict[str, Any]:
        """The certificate as JSON, with its format, `passed` and the ledger."""
        # A counterexample is that of a cause, and stands there.
        told = (replace(v, counterexample=None) if v.causes else v for v in self.verdicts)
        verdicts = [verdict_to_json(verdict) for verdict in told]
        refusals = [vars(refusal) for refusal in self.refusals]
        causes = [cause.to_json() for cause in self.causes]
        found = {"causes": causes, "region": vars(self.region)}
        first = {"format": FORMAT, "passed": self.passed, "ledger": dict(self.ledger)}
        first["promises"] = {name: vars(promise) for name, promise in self.promises.items()}
        return {**first, **vars(self), "verdicts": verdicts, "refusals": refusals, **found}


def blocks(verdict: Verdict) -> bool:
    """Whether the implementation cannot be certified because of this verdict."""
    return verdict.outcome == "violated" and verdict.force == "must"


def grouped(pairs: Iterable[tuple[Key, Value]]) -> dict[Key, list[Value]]:
    """The values of each key, in the order of the pairs."""
    found: dict[Key, list[Value]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
