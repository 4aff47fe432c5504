"""The messages that a worker process may send, and when; others show that a target interferes.

A target runs in the process that reports the results, and can write to the same pipe. So each
message must fit the order and the types of its fields, and may come once. An answer repeats the
random word of its order. This stops a target that writes blindly to open files. It does not stop a
target that reads the memory of its own process, where the word is: such a target would have to run
in another process than its judge.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from math import inf
from typing import IO, Any, Protocol, TypeVar

from spec.certification.diagnosing.diagnosis import Diagnosis
from spec.certification.judging.cause import Cause
from spec.certification.judging.judging import PARTS
from spec.certification.judging.plan import How, Item
from spec.certification.judging.verdict import ITSELF, Verdict, verdict_from_json
from spec.clause import Clause
from spec.notation import DTYPES, GRADES, HALF
from spec.printable import printable
from spec.typed import fits, typed

T = TypeVar("T")
CAUSES: Item = ("causes", "")  # in the place of an item, of who looks for them
LONGEST = 2**26  # characters in a line
NOTES = 100  # beside a verdict
BESIDE: Mapping[str, tuple[set[str], set[str]]] = {  # what stands beside a word, and what may
    "loaded": (set(), set()),
    "probing": (set(), set()),
    "unsuitable": (set(), set()),
    "answering": (set(), set()),
    "interfered": (set(), set()),
    "survey": ({"probed", "order"}, {"cost"}),
    "verdict": ({"order"}, {"notes", "after"}),
    "first": ({"order"}, set()),
    "diagnosis": ({"beside", "order"}, set()),
}
HELD: Mapping[str, Any] = {
    "loaded": bool,
    "unsuitable": str,
    "interfered": str,
    "first": Mapping[str, Any],
    "order": str,
    "notes": tuple[str, ...],
    "after": float,
    "beside": float,
    "cost": tuple[int, float, float, float],
}


class Ordered(Protocol):
    """The order of a worker, and its progress: the fields of a `child.Child`."""

    item: Item | None
    how: How
    sort: Any
    order: str
    loaded: bool
    ready: bool
    judged: bool


class Interfered(Exception):
    """A worker sent a message that it must not send; its text begins with a verb."""


def messages(stream: IO[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the messages of a worker; a line that is no message yields {} and is the last.

    A line without an end comes from a process that was killed, and is dropped.
    """
    try:
        while (line := stream.readline(LONGEST)).endswith("\n"):
            found = json.loads(line)
            yield found if isinstance(found, dict) else {}
        if len(line) == LONGEST:
            yield {}
    except (ValueError, RecursionError):
        yield {}


def turn(child: Ordered, message: Mapping[str, Any]) -> str:
    """The word of a message that may be sent now. Raises Interfered."""
    said = {*message}
    word = next((x for x, (has, may) in BESIDE.items() if {x} | has <= said <= {x} | has | may), "")
    if not word:
        raise Interfered("wrote a line that is no message")
    held = {n: tuple(x) if isinstance(x, list) else x for n, x in message.items() if n in HELD}
    if not all(fits(HELD[name], x) for name, x in held.items()):
        raise Interfered(f"told a {word} in another form")
    if word == "interfered":
        raise Interfered(printable(message[word]))
    asked = child.item not in (None, CAUSES)
    due = {
        "loaded": not child.loaded,
        "probing": child.loaded and not child.ready,
        "unsuitable": not child.ready,
        "answering": child.loaded and child.sort is not None,
        "survey": child.loaded and child.sort is None,
        "verdict": child.ready and asked,
        "first": child.ready and child.item == CAUSES and not child.judged,
        "diagnosis": child.ready and child.item == CAUSES,
    }
    if not due[word] or message.get("order", child.order) != child.order:
        raise Interfered(f"told a {word} that nobody had ordered")
    return word


def read_verdict(
    child: Ordered, message: Mapping[str, Any], clauses: Mapping[str, Clause], looks: bool
) -> Verdict:
    """The verdict on the item that a child was ordered to judge. Raises Interfered.

    looks: the verdict may come alone first, before a counterexample is searched for.
    """
    verdict = read(lambda: typed(verdict_from_json(message["verdict"])), "verdict")
    assert child.item is not None
    number, dtype = child.item
    clause = clauses[number]
    about = (verdict.clause, verdict.name, verdict.force, verdict.promise, verdict.dtype)
    if about != (number, clause.name, clause.force, clause.promise, dtype):
        raise Interfered(
            f"told a verdict on {verdict.clause} {verdict.dtype}, not {number} {dtype}"
        )
    alone = "after" not in message
    if alone and ("notes" in message or child.judged or not looks):
        raise Interfered("told a verdict that nobody had ordered")
    notes, after = message.get("notes", ()), message.get("after", 0.0)
    if not (_possible(verdict, child.how.grade) and 0 <= after < inf and len(notes) <= NOTES):
        raise Interfered(f"told a verdict on {number} {dtype} that there cannot be")
    return verdict


def _possible(verdict: Verdict, grade: str) -> bool:
    """Whether a clause that is judged with this rounding model can have such a verdict."""
    counts = (verdict.examples, verdict.refused, verdict.programs, *verdict.coverage, verdict.worst)
    seconds, outcome = verdict.seconds, verdict.outcome
    # A grade that is granted is never taken back: it would be looked for without an end.
    graded = GRADES.index(verdict.rounding) >= GRADES.index(grade) or not verdict.ran
    return (
        outcome not in ("deviates", "blocked")
        and (outcome != "crashed" or verdict.message.startswith(ITSELF))
        and (outcome != "holds" or verdict.examples > 0)
        and (graded if verdict.dtype in HALF else verdict.rounding == GRADES[0])
        and all(x >= 0 for x in (*counts, *verdict.largest.values()))
        and all(name in PARTS and 0 <= x < inf for name, x in seconds.items())
        and not verdict.causes
    )


def read_first(message: Mapping[str, Any]) -> Cause:
    """The first cause in a message. Raises Interfered."""
    return read(lambda: typed(Cause.from_json(message["first"])), "first")


def read_diagnosis(message: Mapping[str, Any], clauses: Mapping[str, Clause]) -> Diagnosis:
    """The causes of failing items in a message. Raises Interfered."""
    found = read(lambda: typed(Diagnosis.from_json(message["diagnosis"])), "diagnosis")
    numbers = {number for number, _ in found.met} | {n for x in found.causes for n in x.clauses}
    places = {place for met in found.met.values() for place in met}
    formats = {dtype for _, dtype in found.met} | {d for x in found.causes for d in x.dtypes}
    known = numbers <= {*clauses} and formats <= {*DTYPES} and places <= {*range(len(found.causes))}
    known &= found.grades.keys() <= {*HALF} and {*found.grades.values()} <= {*GRADES}
    if not known or found.programs < 0 or not 0 <= message["beside"] < inf:
        raise Interfered("told a diagnosis that there cannot be")
    return found


def read(make: Callable[[], T], word: str) -> T:
    """The object made from a message. Raises Interfered if that fails, for any reason."""
    try:
        return make()
    except Exception as error:
        raise Interfered(f"told a {word} in another form ({type(error).__name__})") from None
