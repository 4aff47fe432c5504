"""A certificate as a line that is the same wherever the same is judged.

    attention/forgets_the_scale  refused  126 holds, 46 violated  1f2e3d4c 5b6a7988  where …

Two hashes: of what was judged (outcomes, problems, counterexamples, regions) and of the words in
which it is reported. Left out is what differs between two runs, or two versions of a library
(seconds, versions, paths, errors in figures, messages of exceptions), and what the docstrings of
clauses and of mistakes say, which the diff of a change shows anyway.
"""

import hashlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from spec import certify
from spec.backends import Unsuitable
from tests.golden.subjects import Golden

HERE = {"profile": "quick", "isolation": "none"}  # without clocks, a process of its own has some
VERDICT = ("clause", "force", "dtype", "outcome", "examples", "drawn", "causes")
CAUSE = ("asked", "failure", "drawn", "clauses", "dtypes", "problems", "features")
WORDS = ("sentence", "beside", "lens", "besides")
FIGURE = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")
OF_A_PLACE = ("sys.path", "at (", "import sys")  # lines of a script that name folders or errors


@contextmanager
def without_clocks() -> Iterator[None]:
    """Let no time pass, so that no limit in seconds ends a search: a busy machine would find less.

    Reductions, searches for causes and for known bugs, and trials of scripts all have such limits.
    """
    clocks = ("monotonic", "perf_counter", "process_time")
    with patch.multiple(time, **dict.fromkeys(clocks, lambda: 0.0)):
        yield


def judged(golden: Golden) -> dict[str, Any]:
    """What is said of a target, as JSON; of one that cannot be judged, why."""
    try:
        with without_clocks():
            found = certify(golden.target, **{**HERE, **golden.options})
    except Unsuitable as reason:
        return {"passed": False, "unsuitable": type(reason).__name__}
    told: dict[str, Any] = json.loads(json.dumps(found.to_json()))
    return {"passed": told["passed"], "of": structure(told), "words": words(told)}


def structure(told: Mapping[str, Any]) -> dict[str, Any]:
    """What was judged, and what came of it."""
    return {
        "verdicts": [{x: v.get(x) for x in VERDICT} for v in told["verdicts"]],
        "ledger": told["ledger"],
        "conventions": told["conventions"],
        "refusals": [[r["what"], r["direction"], r["crashed"]] for r in told["refusals"]],
        "coverage": {name: rows["rows"] for name, rows in told["coverage"].items()},
        "causes": [_cause(cause) for cause in told["causes"]],
        "region": [told["region"]["passed"], told["region"]["features"]],
    }


def _cause(cause: Mapping[str, Any]) -> dict[str, Any]:
    shown = cause.get("counterexample") or {}
    return {
        **{x: cause[x] for x in CAUSE},
        "problem": shown.get("problem"),
        "looks like": [line.partition(" ")[0] for line in shown.get("looks_like", ())],
    }


def words(told: Mapping[str, Any]) -> dict[str, Any]:
    """The sentences of a report, and the scripts of its counterexamples."""
    return {
        "causes": [[*(cause[x] for x in WORDS), _shown(cause)] for cause in told["causes"]],
        "region": told["region"]["sentence"],
        "notes": told["notes"],
        "advice": told["advice"],
    }


def _shown(cause: Mapping[str, Any]) -> list[Any]:
    """The lines of the script of a counterexample, below its docstring."""
    shown = cause.get("counterexample") or {}
    lines = (shown.get("script") or "").rpartition('\n"""\n')[2].splitlines()
    kept = [line for line in lines if not line.lstrip().startswith(OF_A_PLACE)]
    return [FIGURE.sub(_short, line) for line in kept]


def _short(figure: re.Match[str]) -> str:
    return f"{float(figure[0]):.4g}"


def line(golden: Golden, found: Mapping[str, Any]) -> str:
    """The line of a target: its name, outcome and counts, two hashes, and its causes."""
    if "unsuitable" in found:
        return f"{golden.name}  unsuitable"
    counts = Counter(_outcome(verdict) for verdict in found["of"]["verdicts"])
    causes = "; ".join(cause[0] for cause in found["words"]["causes"])
    said = "certified" if found["passed"] else "refused"
    figures = ", ".join(f"{n} {name}" for name, n in sorted(counts.items()))
    hashes = f"{_hash(found['of'])} {_hash(found['words'])}"
    return f"{golden.name}  {said}  {figures}  {hashes}  {causes}".rstrip()


def _outcome(verdict: Mapping[str, Any]) -> str:
    """The outcome, "violated should" or "violated promise" where no `must` is violated."""
    soft = verdict["outcome"] == "violated" and verdict["force"] != "must"
    return f"violated {verdict['force']}" if soft else str(verdict["outcome"])


def _hash(told: Any) -> str:
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()[:8]
