"""What is said of a fault, held against what is known of it, and against fresh problems.

A mistake is told if a cause covers the problems that it declares to be wrong on (`Mistake.where`)
and lacks at most one of the features that it declares, or if its name is.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec import certify, rerun
from spec.backends import Unsuitable
from spec.certification.judging.cause import Cause
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import scope_for
from spec.certification.ledger.certificate import Certificate
from spec.certification.target.loading import origin_of
from spec.features import ASKED, joined
from spec.kind import Kind
from spec.kinds import KINDS
from spec.mistake import Mistake
from tests.judging import EXAMPLES
from tests.shares import FRESH, wrong_inside
from tests.test_where_mistakes_are_wrong import judges

DRAWN = 40  # problems of each clause that says whether a mistake shows
MOSTLY = 0.9  # of them
SEEDS = 8  # of fresh problems, at most
MANY = 1000  # fresh problems inside of a region
ROOT = Path(__file__).parents[1]


class Told(NamedTuple):
    """What a certificate says of one fault or several."""

    names: Sequence[str]
    sentences: Sequence[str]
    known: Sequence[bool]  # which of them a cause tells
    lines: int
    letters: int
    fresh: str  # what came of the region when it was judged by itself
    wrong: Sequence[float]  # the share of what is wrong on fresh problems, inside of each cause
    shown: Sequence[bool]  # by the script of each cause that has one
    alone: Sequence[bool]  # whether each of these needs the target alone


@cache
def drawn(about: str, name: str) -> list[Any]:
    """Problems of the clauses that say whether a mistake shows."""
    found: list[Any] = []
    kind = KINDS[about]
    for clause, dtype in judges(kind, kind.mistakes[name]):
        scope = scope_for(clause, kind.subjects[name], dtype, "strict", "standard")
        found.extend(series(clause, scope, max(DRAWN, EXAMPLES * clause.effort), 0))
    return found


def is_that(kind: Kind, mistake: Mistake, cause: Cause) -> bool:
    """Whether a cause covers what a mistake declares, and is wider by one feature at most."""
    declared, problems = mistake.where, drawn(kind.about, mistake.name)
    asked = declared.partition(ASKED)[0] if ASKED in declared else ""
    if declared and cause.asked != asked:
        return False
    if not declared and " after " in cause.failure:  # what is remembered is no set of problems
        return True
    every = joined(cause.set)

    def holds(sentence: str) -> Any:
        test = kind.features.sentence(sentence) if sentence else lambda *_: True
        return np.array([test(problem, asked) for problem in problems], dtype=bool)

    inside, told = holds(declared), holds(every)
    if cause.drawn or not inside.any() or told[inside].mean() < MOSTLY:
        return cause.drawn and not declared
    whole = " or " in declared or "(" in declared
    features = [declared] if whole else declared.split(" and ")
    missing = [x for x in features if declared and holds(x)[told].mean() < MOSTLY]
    return len(missing) <= 1


def is_named(mistake: Mistake, cause: Cause) -> bool:
    """Whether a cause names a mistake, as what its answers look like."""
    example = cause.counterexample
    lines = (cause.besides, *(example.looks_like if example else ()))
    return any(line.startswith(f"{mistake.name} ") for line in lines)


def judged_again(kind: Kind, target: Any, certificate: Certificate) -> str:
    """Whether the region of a certificate is one, on a thousand problems of other seeds."""
    region, dtypes = certificate.region, tuple(dict.fromkeys(v.dtype for v in certificate.verdicts))
    if not region.passed or not region.sentence:
        return "nowhere"
    put = {"kind": kind.about, "profile": "quick", "dtypes": dtypes, "where": region.sentence}
    count = 0
    for seed in range(FRESH, FRESH + SEEDS):
        again = certify(target, seed=seed, **put)  # type: ignore[arg-type]
        left = [v for v in again.verdicts if v.force == "must" and v.clause not in region.but]
        broken = [f"{v.clause} {v.dtype}" for v in left if v.outcome == "violated"]
        if broken:
            return f"broken: {', '.join(broken)}"
        count += sum(v.examples for v in left)
        if count >= MANY or not count:
            break
    return "holds" if count else "empty"


def scripts(certificate: Certificate) -> list[str]:
    """The script of each cause that has one."""
    examples = (cause.counterexample for cause in certificate.causes)
    return [example.script for example in examples if example and example.script]


def needs_the_specification(script: str) -> bool:
    """Whether a script runs a clause, as no plain calls show what is wrong."""
    return f"{rerun.__name__}(" in script


def shown(certificate: Certificate) -> Iterator[bool]:
    """Whether the script of each cause shows it, in a folder of its own."""
    for script in scripts(certificate):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "cause.py").write_text(script)
            words, seen = [sys.executable, "cause.py"], {**os.environ, "PYTHONPATH": str(ROOT)}
            done = subprocess.run(words, cwd=folder, env=seen, capture_output=True, check=False)
        yield done.returncode == 1 and bool(done.stdout)


def told(
    kind: Kind,
    mistakes: Sequence[Mistake],
    target: Any,
    dtypes: tuple[str, ...],
    profile: str = "quick",
) -> Told:
    """What is said of these mistakes."""
    names = [mistake.name for mistake in mistakes]
    put = {"kind": kind.about, "profile": profile, "dtypes": dtypes}
    origin = origin_of(target) if len(mistakes) == 1 and not mistakes[0].where else ""
    try:
        # What is remembered is told by a process that was asked nothing before.
        apart = {"isolate": True, "backend": "numpy"} if origin else {}
        certificate = certify(origin or target, **put, **apart)  # type: ignore[arg-type]
    except Unsuitable as reason:  # the very form of its answers is wrong
        return Told(names, [str(reason)], [True] * len(names), 1, 0, "nowhere", (), (), ())
    causes = certificate.causes
    return Told(
        names,
        [cause.sentence for cause in causes],
        [any(is_that(kind, m, x) or is_named(m, x) for x in causes) for m in mistakes],
        len(str(certificate).splitlines()),
        len(json.dumps(certificate.to_json())),
        judged_again(kind, target, certificate),
        [*wrong_inside(kind, target, certificate)],
        [*shown(certificate)] if len(mistakes) == 1 else (),
        [not needs_the_specification(script) for script in scripts(certificate)],
    )
