"""Grades: the results for one target, as a page of JSON for programs that grade programs.

The seed is secret unless one is given, and the target has a process of its own. A grade passes if
the target is certified and meets every requirement (`requirements`).
"""

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, TextIO

from spec.certification.attended import attended
from spec.certification.doors import so_far, supervising
from spec.certification.hashed import environment, of_files, of_folder, together
from spec.certification.isolation.supervisor import Supervisor
from spec.certification.judging.edition import (
    COMMITMENT,
    ISOLATION,
    NONCE,
    OURS,
    THEIRS,
    file_of,
    whole_edition,
)
from spec.certification.ledger.causes import region_in_words, remedy
from spec.certification.ledger.certificate import Certificate
from spec.certification.ledger.findings import blocks
from spec.certification.ledger.outcomes import by_worst
from spec.certification.ledger.untested import in_nouns, lacked
from spec.certification.requirements import Results, checked, lacking
from spec.certification.settings import Request
from spec.features import joined
from spec.written import in_a_line

FORMAT = 1  # of spec/schema/grade-1.json
LONG, FEW = 400, 10  # letters of a line; failures without a cause
COUNTED = {
    "pass": "holds",
    "fail": "violated",
    "fail_recommended": "violated should",
    "known_to_fail": "deviates",
    "unsupported": "refused",
    "crashed": "crashed",
    "not_run": "blocked",
    "not_supported": "",
}
Word = Literal["certified", "requirement missing", "not certified", "incomplete", "interfered"]


@dataclass(frozen=True)
class Requirement:
    """A requirement, and why it is not met, or "" if it is."""

    word: str
    met: bool
    why: str


@dataclass(frozen=True)
class Seed:
    """The seed. commitment: the SHA-256 of the text SEED:NONCE, "" for a seed that is public."""

    seed: int
    secret: bool
    commitment: str
    nonce: str


@dataclass(frozen=True)
class Failure:
    """A cause of failures in a line, where it is met, the clauses that fail, and an example."""

    line: str
    where: str
    clauses: tuple[str, ...]
    example: str


@dataclass(frozen=True)
class Grade:
    """The results for one target; `spec/schema/grade-1.json` describes each field."""

    verdict: Word
    passed: bool
    exit_code: int
    target: str
    name: str
    kind: str
    formats: tuple[str, ...]
    profile: str
    required: tuple[Requirement, ...]
    clauses: Mapping[str, int]
    unsupported: tuple[str, ...]
    causes: tuple[Failure, ...]
    region: str
    isolation: str
    seed: Seed
    hashes: Mapping[str, Any]
    calls: tuple[str, ...]
    versions: Mapping[str, str]
    seconds: float
    repeat: str

    def to_json(self) -> dict[str, Any]:
        """The grade as JSON."""
        return {"format": FORMAT, **json.loads(json.dumps(asdict(self), allow_nan=False))}


def graded(request: Request, required: Iterable[str], stream: TextIO) -> Grade:
    """The grade of a target. stream: for progress. Raises Unsuitable."""
    words, folder = checked(required), os.getcwd()
    before = of_folder(request.target, folder)
    supervisor = supervising(request)
    with attended(supervisor, stream, None):
        supervisor.run()
    certificate, after = so_far(supervisor), of_folder(request.target, folder)
    found = _graded(supervisor, certificate, words, after)
    if before == after or found.verdict == "interfered":
        return found
    changed = Failure("a file of its folder changed while it was judged", "", (), "")
    return replace(found, verdict="interfered", passed=False, exit_code=3, causes=(changed,))


def _graded(
    supervisor: Supervisor,
    certificate: Certificate,
    words: Iterable[str],
    folder: Mapping[str, str],
) -> Grade:
    request, survey = supervisor.request, supervisor.survey
    assert survey is not None
    formats = request.dtypes or (*survey.supports,)
    results = Results(supervisor.clauses, survey, certificate.verdicts, formats)
    reasons = {**lacking(words, results), **_proposed(certificate)}
    required = tuple(Requirement(x, not why, _line(why)) for x, why in reasons.items())
    verdict, code = _verdict(certificate, all(x.met for x in required))
    worst, known = by_worst(certificate), dict(certificate.versions)
    committed, nonce = known.pop(COMMITMENT, ""), known.pop(NONCE, "")
    for name in (OURS, THEIRS):
        known.pop(name, None)
    return Grade(
        verdict=verdict,
        passed=code == 0,
        exit_code=code,
        target=request.target,
        name=_line(certificate.name),
        kind=certificate.about,
        formats=formats,
        profile=request.profile,
        required=required,
        clauses={
            "all": worst.total(),
            "apply": worst.total() - worst[""],
            **{name: worst[outcome] for name, outcome in COUNTED.items()},
        },
        unsupported=_unsupported(certificate),
        causes=_failures(certificate),
        region=_region(certificate),
        isolation=known.pop(ISOLATION),
        seed=Seed(request.seed, request.secret, committed, nonce),
        hashes=_hashes(request.target, folder, survey.loaded),
        calls=tuple(map(_line, survey.calls)),
        versions={**known, OURS: certificate.specification},
        seconds=round(certificate.timings["total"], 3),
        repeat=certificate.command,
    )


def _proposed(certificate: Certificate) -> dict[str, str]:
    """The conventions that a target declares itself: nobody who grades it has accepted them."""
    why = "the target declares this convention; grade it with the option to accept that"
    return {f"--convention {name}={x}": why for name, x in certificate.declares.items()}


def _verdict(certificate: Certificate, met: bool) -> tuple[Word, int]:
    """The word for it, and the exit code."""
    match certificate.exit_code:
        case 0:
            return ("certified", 0) if met else ("requirement missing", 1)
        case 1:
            return "not certified", 1
    return ("interfered" if certificate.interfered else "incomplete"), 3


def _region(certificate: Certificate) -> str:
    """Where it is correct."""
    if certificate.causes:
        return region_in_words(certificate)
    where = f" with {certificate.where}" * bool(certificate.where)
    return f"correct on all tested problems{where}" if certificate.passed else "not known"


def _unsupported(certificate: Certificate) -> tuple[str, ...]:
    """Everything that clauses need and that the target lacks, or raises an exception for."""
    lacks = map(in_nouns, lacked(certificate.verdicts)[0])
    raised = [
        f"gradients with {in_nouns(r.what)}" * (r.direction == "backward") or in_nouns(r.what)
        for r in certificate.refusals
    ]
    return tuple(_line(x) for x in sorted({*lacks, *raised}))


def _failures(certificate: Certificate) -> tuple[Failure, ...]:
    """The causes; then failures without one, the first few of them."""
    found = []
    for cause in certificate.causes:
        example = cause.counterexample
        shown = f"{in_a_line(example.problem)}: {example.message}" if example else ""
        told = remedy(cause) or cause.told
        found.append(Failure(_line(told), _line(joined(cause.set)), cause.clauses, _line(shown)))
    others = [v for v in certificate.verdicts if blocks(v) and not v.causes]
    for v in others[:FEW]:
        example = v.counterexample
        shown = in_a_line(example.problem) if example else ""
        found.append(Failure(_line(v.message), "", (v.clause,), _line(shown)))
    return tuple(found)


def _hashes(target: str, folder: Mapping[str, str], loaded: Iterable[str]) -> dict[str, Any]:
    """Hashes of files, which are named from the folder of the target if they lie below it."""
    file = file_of(target)
    home = f"{os.path.realpath(file.parent)}{os.sep}" if file else os.sep

    def named(paths: Iterable[str]) -> dict[str, str]:
        known = of_files(map(os.path.realpath, paths))
        return {path.removeprefix(home): told for path, told in known.items()}

    return {
        "target": named([str(file)] if file else []),
        "folder": {"files": len(folder), "sha256": together(folder)},
        "loaded": named(loaded),
        OURS: whole_edition(),
        "environment": environment(),
    }


def _line(text: str) -> str:
    """A text in a line that is not too long."""
    found = " ".join(text.split())
    return found if len(found) <= LONG else f"{found[: LONG - 1]}…"
