"""How faults are told, measured: one cause for each mistake, and both of two at once.

    python -m tests.faults --part 0/16             of the catalogue, every sixteenth mistake
    python -m tests.faults --pairs 40 --seed 3     pairs of mistakes of attention, drawn at random

A line for each, figures at the end. A mistake is told if a cause covers the problems that it
declares to be wrong on (`Mistake.where`) and lacks at most one of the features that it declares,
or if its name is. Hours for all; nothing here is a test of what is right.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spec import CLAUSES, certify
from spec.attention.mistakes.making import at_once
from spec.backends import Unsuitable
from spec.certification.diagnosing.evidence import Evidence
from spec.certification.diagnosing.leads import Lead
from spec.certification.judging.bounds import Bounds, group
from spec.certification.judging.cause import Cause
from spec.certification.judging.drawing import series
from spec.certification.judging.examiner import Examiner
from spec.certification.judging.judging import scope_for
from spec.certification.ledger.certificate import Certificate
from spec.certification.settings import Request
from spec.certification.target.loading import origin_of
from spec.features import ASKED, joined
from spec.kind import Kind
from spec.kinds import KINDS
from spec.mistake import Mistake
from tests.test_where_mistakes_are_wrong import judges

DRAWN = 40  # problems of each clause that says whether a mistake shows
MOSTLY = 0.9  # of them
ENOUGH = 5  # problems for a share
FRESH, SEEDS = 77, 8  # the first seed of fresh problems, and how many there are at most
MANY = 1000  # fresh problems inside of a region
PAGE, MORE = 60, 25  # lines of one cause, and of each further one
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


@cache
def drawn(about: str, name: str) -> list[Any]:
    """Problems of the clauses that say whether a mistake shows."""
    found: list[Any] = []
    kind = KINDS[about]
    for clause, dtype in judges(kind, kind.mistakes[name]):
        scope = scope_for(clause, kind.subjects[name], dtype, "strict", "standard")
        found.extend(series(clause, scope, DRAWN, 0))
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
    features = [declared] if " or " in declared else declared.split(" and ")
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
    put = {"about": kind.about, "profile": "quick", "dtypes": dtypes, "where": region.sentence}
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


def wrong_inside(kind: Kind, target: Any, certificate: Certificate) -> Iterator[float]:
    """The share of what is wrong on problems of another seed, for each cause with enough of them.

    Of causes by themselves: neither those that no wrong answer shows, nor those within another.
    """
    examiner = Examiner.of(target, Request(target="", about=kind.about, profile="quick"))
    subjects, bounds = examiner.probed.by_dtype, Bounds.of(kind, "")
    evidence = Evidence(kind, subjects, {}, bounds, DRAWN, "quick")
    functions = {group(kind, name): numbers for name, numbers in [*kind.compares.items()][::-1]}
    for cause in certificate.causes:
        clauses = tuple(CLAUSES[number] for number in functions.get(cause.asked, ()))
        if cause.drawn or cause.besides or not clauses:
            continue
        lead, alone = Lead(clauses, cause.asked, False, None, ""), Bounds.of(kind, "", [cause])
        found: list[Any] = []
        for dtype in {*cause.dtypes} & {*subjects}:
            for clause in clauses:
                found.extend(series(clause, evidence.scope(clause, dtype), DRAWN, FRESH))
        rows = [evidence.row(lead, p) for p in found if not lead.within(alone, p)]
        known = [bool(row.how) for row in rows if row is not None]
        if len(known) >= ENOUGH:
            yield sum(known) / len(known)


def shown(certificate: Certificate) -> Iterator[bool]:
    """Whether the script of each cause shows it, in a folder of its own."""
    examples = (cause.counterexample for cause in certificate.causes)
    for script in [example.script for example in examples if example and example.script]:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "cause.py").write_text(script)
            words, seen = [sys.executable, "cause.py"], {**os.environ, "PYTHONPATH": str(ROOT)}
            done = subprocess.run(words, cwd=folder, env=seen, capture_output=True, check=False)
        yield done.returncode == 1 and bool(done.stdout)


def told(kind: Kind, mistakes: Sequence[Mistake], target: Any, dtypes: tuple[str, ...]) -> Told:
    """What is said of these mistakes."""
    names = [mistake.name for mistake in mistakes]
    put = {"about": kind.about, "profile": "quick", "dtypes": dtypes}
    origin = origin_of(target) if len(mistakes) == 1 and not mistakes[0].where else ""
    try:
        # What is remembered is told by a process that was asked nothing before.
        apart = {"isolate": True, "backend": "numpy"} if origin else {}
        certificate = certify(origin or target, **put, **apart)  # type: ignore[arg-type]
    except Unsuitable as reason:  # the very form of its answers is wrong
        return Told(names, [str(reason)], [True] * len(names), 1, 0, "nowhere", (), ())
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
    )


def alone(part: int, parts: int) -> Iterator[Told]:
    """Each mistake of a part of the catalogue."""
    every = [(k, m) for k in KINDS.values() for m in k.mistakes.values() if not m.harmless]
    for kind, mistake in [pair for pair in every if pair[1].force == "must"][part::parts]:
        dtypes = tuple(dict.fromkeys(("float64", *mistake.dtypes)))
        yield told(kind, [mistake], mistake.target, dtypes)


def pairs(count: int, seed: int, of: int) -> Iterator[Told]:
    """Several mistakes of different steps at once."""
    kind, chance = KINDS["attention"], random.Random(seed)
    usual = [m for m in kind.mistakes.values() if not m.harmless and m.force == "must"]
    usual = [m for m in usual if m.spoils in ("forward", "gradient") and m.dtypes == ("float32",)]
    while count:
        mistakes = chance.sample(usual, of)
        made = at_once(mistakes)
        if made is not None:
            count -= 1
            yield told(kind, mistakes, made, ("float64", "float32"))


def figures(found: Sequence[Told]) -> Iterator[str]:
    """What is worth telling of all of them."""
    count, many = len(found), [len(x.sentences) for x in found]
    each = len(found[0].names)
    yield f"{count} certificates, each of {each} at once"
    yield f"as many causes: {sum(n == each for n in many)}; more: {sum(n > each for n in many)}"
    yield f"at most {max(many)} causes; all told: {sum(all(x.known) for x in found)}"
    yield f"some of them told: {sum(any(x.known) for x in found)}"
    lines = [x.lines for x in found]
    yield f"lines: {statistics.median(lines):.0f} in the median, {max(lines)} at worst"
    long = sum(x.lines > PAGE + MORE * max(0, len(x.sentences) - 1) for x in found)
    yield f"longer than a page, and a third for each further cause: {long}"
    regions = [x.fresh for x in found if x.fresh != "nowhere"]
    yield f"regions: {len(regions)}; that hold on fresh problems: {regions.count('holds')}"
    shares = [x for one in found for x in one.wrong]
    third = sum(x > 1 / 3 for x in shares)
    yield f"causes: {len(shares)}; of which a third is wrong on fresh problems: {third}"
    scripts = [x for one in found for x in one.shown]
    yield f"scripts: {len(scripts)}; that show their cause: {sum(scripts)}"
    yield f"JSON: {max(x.letters for x in found) / 1000:.0f} kB at worst"


def main(words: Sequence[str] | None = None) -> int:
    """Tell them, one by one."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--part", default="0/16", help="of the catalogue")
    parser.add_argument("--pairs", type=int, help="how many, instead")
    parser.add_argument("--of", type=int, default=2, help="how many mistakes at once")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(words)
    part, parts = map(int, asked.part.split("/"))
    found = []
    for one in pairs(asked.pairs, asked.seed, asked.of) if asked.pairs else alone(part, parts):
        found.append(one)
        known = "".join("+" if x else "-" for x in one.known)
        sentences = "; ".join(one.sentences)
        scripts = "".join("+" if x else "-" for x in one.shown)
        shares = " ".join(f"{x:.0%}" for x in one.wrong)
        said = f"{known} {' and '.join(one.names)}: {sentences}"
        print(f"{said} [{one.fresh}] {shares} {scripts}", flush=True)
    print("\n".join(figures(found)))
    return 0


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(main())
