"""Judgements of the causes in a ledger: what each cause is, in words, and where this is documented.

    [[targets.attend.causes]]
    sentence = "where causal and N > M, the output is NaN"     # as the certificate has it
    kind = "fault"
    words = "A query that sees no key divides zero by zero."
    script = "attend_divides_by_zero.py"                       # in the folder `faults`

A fault that was found by reading, and is no cause of a certificate, stands in tables `by_hand`,
which say `why` no clause shows it.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from spec.backends import Unsuitable
from spec.backends.unknown import unknown
from spec.certification.ledger.certificate import Certificate

FAULTS = "faults"  # the folder of their scripts
NEEDS = {  # what each kind of judgement has to have beside words
    "fault": "script",  # what no documentation says, shown by the library alone
    "choice": "documentation",  # what its documentation says that it does
    "convention": "documentation",  # one of those that a certificate can be asked for
    "precision": "",  # fewer bits than the arrays have
}
KEYS = ("sentence", "kind", "words", "documentation", "issue", "script")
BY_HAND, WHY = "by_hand", "why"
TABLES = {"causes": KEYS, BY_HAND: (*KEYS, WHY)}
UNFIT = (  # how a script ends that does not fit the library any more, and shows nothing
    *("ImportError", "ModuleNotFoundError", "FileNotFoundError", "SyntaxError"),
    *("NameError", "AttributeError", "TypeError"),
)
PATIENCE = 300.0  # seconds for a script


@dataclass(frozen=True)
class Judgement:
    """A judgement of a cause.

    sentence: the sentence of the cause, or the number of a clause that fails without a cause. kind:
    a key of `NEEDS`. documentation: where the library documents it, and its words. issue: the
    address in its tracker, if there is one. script: shows the fault with the library alone, and
    fails as long as the fault exists. why: the reason why no clause shows it.
    """

    sentence: str
    kind: str
    words: str
    documentation: str = ""
    issue: str = ""
    script: str = ""
    why: str = ""

    @staticmethod
    def read(written: Any, place: str, table: str = "causes") -> "Judgement":
        """The judgement in a table. Raises Unsuitable, with the place, if it is invalid."""
        if not isinstance(written, dict):
            raise Unsuitable(f"{place}: got {written!r}, want a table")
        for key, value in written.items():
            if key not in (keys := TABLES[table]):
                raise Unsuitable(f"{place}: {unknown('key', key, keys)}")
            if not isinstance(value, str) or not value.strip():
                raise Unsuitable(f"{place}.{key}: got {value!r}, want a string")
        if (kind := written.get("kind")) not in NEEDS:
            raise Unsuitable(f"{place}.kind: got {kind!r}: choose from {', '.join(NEEDS)}")
        why = WHY if table == BY_HAND else ""
        for key in filter(None, ("sentence", "words", NEEDS[kind], why)):
            if key not in written:
                raise Unsuitable(f"{place}: a {kind} needs {key}")
        return Judgement(**{key: " ".join(value.split()) for key, value in written.items()})


def unjudged(certificate: Certificate, judgements: Sequence[Judgement]) -> Iterator[str]:
    """Yield a line for each cause without a judgement, and for the reverse."""
    said = [x.sentence for x in judgements if not x.why]
    causes = [cause.sentence for cause in certificate.causes]
    broken = {v.clause for v in certificate.verdicts if v.outcome in ("violated", "deviates")}
    open_ = [v.clause for v in certificate.failures if v.force == "must" and not v.causes]
    crashed = [v.clause for v in certificate.verdicts if v.outcome == "crashed"]
    explained = {number for cause in certificate.causes for number in cause.clauses}
    open_ += [number for number in crashed if number not in explained]
    for one in dict.fromkeys([*causes, *open_]):
        if one not in said:
            yield f"nobody says what it is: {one}"
    for one in said:
        if one not in [*causes, *broken, *open_, *crashed]:
            yield f"said of a cause that is there no more: {one}"


def mended(judgements: Sequence[Judgement], folder: Path) -> Iterator[str]:
    """Yield a line for each script that does not show its fault."""
    for script in dict.fromkeys(x.script for x in judgements if x.script):
        if said := _in_vain(folder / FAULTS / script):
            yield f"{script}: {said}"


@cache
def _in_vain(script: Path) -> str:
    """Why a script shows nothing; "" if it shows its fault. Each script runs once."""
    command = [sys.executable, str(script)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"no end after {PATIENCE:g} s"
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if done.returncode == 0:
        return "it passes, so the fault is mended"
    unfit = done.returncode > 0 and last.partition(":")[0] in UNFIT
    return f"it fails for another reason: {last}" if unfit else ""


def judgements(written: Mapping[str, Any], place: str) -> tuple[Judgement, ...]:
    """The judgements in a target's table. Raises Unsuitable."""
    found: list[Judgement] = []
    for name in TABLES:
        listed = written.get(name, [])
        if not isinstance(listed, list):
            raise Unsuitable(f"{place}.{name}: got {listed!r}, want tables")
        for n, table in enumerate(listed, start=1):
            found.append(Judgement.read(table, f"{place}.{name}, {n}", name))
    return tuple(found)
