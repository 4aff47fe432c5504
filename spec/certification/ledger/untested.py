"""The words for everything that was not tested: parameters, exceptions, and unsupported options."""

from collections.abc import Iterable, Iterator, Sequence

from spec.backends.calling import UNTESTED
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Verdict
from spec.certification.ledger.findings import grouped
from spec.certification.target.probed import Refusal

Clauses = frozenset[str]  # their numbers
ELSEWHERE = "problems where "  # begins the reason of a clause of which --where leaves no problem


def in_a_line(survey: Survey) -> str:
    """All that was not tested of a target, in a line for pytest sessions; "" if nothing."""
    said = [*first_lines(survey.refusals, survey.notes), *not_supported(survey.settled)]
    return f"{survey.name}: {'; '.join(said)}" if said else ""


def first_lines(refusals: Sequence[Refusal], notes: Iterable[str]) -> Iterator[str]:
    """The first lines of a report: parameters that no problem has, and exceptions."""
    words = [_in_short(r) for r in refusals if not r.crashed]
    if words:
        yield f"{UNTESTED}as the target raises an exception: {', '.join(dict.fromkeys(words))}"
    yield from filter(says_so, notes)


def says_so(note: str) -> bool:
    """Whether a note says that something was not tested."""
    return note.startswith(UNTESTED)


def not_supported(verdicts: Iterable[Verdict]) -> Iterator[str]:
    """Yield a list of what clauses need and the target lacks, and untested clauses."""
    first, outside = lacked(verdicts)
    if first:
        parts = (f"{in_nouns(what)} ({_clauses(len(n))})" for what, n in first.items())
        yield f"not supported, so not tested: {', '.join(parts)}"
    for what, numbers in outside.items():
        yield f"{UNTESTED}{_clauses(len(numbers))} without {what}"


def why_untested(message: str) -> str:
    """Why a clause was not tested, from its verdict: what is lacking, or that nothing is left."""
    parts = message.split("; ")
    if outside := [x for x in parts if x.startswith(ELSEWHERE)]:
        return f"{UNTESTED}without {outside[0]}"
    return f"not supported: {', '.join(map(in_nouns, parts))}"


def lacked(verdicts: Iterable[Verdict]) -> tuple[dict[str, Clauses], dict[str, Clauses]]:
    """The capabilities that a target lacks, and conditions that leave no problem, with the clauses.

    A capability that is needed only in addition to another one that is missing is counted with it.
    """
    absent = [v for v in verdicts if v.outcome == "not offered"]
    needing = grouped((what, v.clause) for v in absent for what in v.message.split("; "))
    missing = {what: frozenset(numbers) for what, numbers in needing.items()}
    outside = {x: missing.pop(x) for x in [*missing] if x.startswith(ELSEWHERE)}
    first = {x: n for x, n in missing.items() if not any(n < y for y in missing.values())}
    return first, outside


def in_nouns(what: str) -> str:
    """A capability, in words that begin with a verb, as something that a target has.

    takes a scale: a scale; can be run: being run; gives them back: giving them back.
    """
    verb, _, rest = what.partition(" ")
    if verb in ("takes", "has", "returns"):
        return rest
    if verb == "can":
        verb, _, rest = rest.partition(" ")
        verb += "s"
    if not rest or not verb.endswith("s"):
        return what  # the name of a format
    stem = verb.removesuffix("s")
    stem = f"{stem[:-2]}y" if stem.endswith("ie") else stem
    silent = stem.endswith("e") and stem != "be"
    return f"{stem.removesuffix('e') if silent else stem}ing {rest}"


def _in_short(refusal: Refusal) -> str:
    gradients = "gradients with " * (refusal.direction == "backward")
    return gradients * refusal.what.startswith("takes ") + in_nouns(refusal.what)


def _clauses(count: int) -> str:
    return "1 clause" if count == 1 else f"{count} clauses"
