"""The verdict on one clause in one dtype, and its form in JSON.

holds         no problem broke it
violated      a problem broke it
deviates      it fails, and the project or the user declared that it does
not offered   the implementation does not support what the clause needs
refused       it supports that, but raised an exception
blocked       the clause was not run: the time was spent, or an earlier failure ended the run
crashed       the process died or hung while the clause was run, or the clause itself failed
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from spec.clause import NUMBER, Clause
from spec.comparison import Compared, Place
from spec.kinds import kind_of
from spec.notation import DTYPES, Grade
from spec.saved import number, problem_from_json, problem_to_json

Outcome = Literal["holds", "violated", "deviates", "not offered", "refused", "blocked", "crashed"]
ASKED = ", last called for "  # in the message of what crashed: before it how, behind it on what
ITSELF = "the clause itself failed"  # at the beginning of the message where it did
INTERFERED = "the target interfered"  # at the beginning of the message of what is blocked for it
INTERRUPTED = "interrupted"  # why what is blocked is, where somebody stopped the run
SPENT = "the budget of {:g} s was spent"  # the same where there was no more time
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class Counterexample:
    """A problem that breaks a clause, with the facts that a report prints.

    about: the kind of subject. sentence, formula: the claim of the clause. looks_like: known bugs
    with the same result. script: a program that repeats the failure. reduced: the search for a
    smaller problem has ended. compared: all numbers computed and expected, if they are few.
    apiece: of several conventions that correct it together, what is wrong without each.
    """

    problem: Any  # of the kind that the clause is about
    message: str
    about: str
    sentence: str
    formula: str
    place: Place | None
    looks_like: tuple[str, ...]
    script: str
    reduced: bool
    compared: Compared | None = None  # certificates that were saved before it have none
    apiece: tuple[str, ...] = ()  # nor this


@dataclass(frozen=True)
class Verdict:
    """The verdict on one clause in one dtype.

    examples: problems that were answered; refused: problems for which the target raised an
    exception; refused_kinds: the kinds that these belong to, each set of them once.
    worst: the largest error divided by its bound. message: the reason, if there is one.
    raised: why the rounding model is no stricter one, if this clause needs it.
    causes: the positions of its causes in the certificate. likewise: a function that it calls and
    that is known to fail the clause in the same way. coverage: rows that see a key; of these, those
    of which only the range of the values was checked; and those without a bound on gradients.
    script: the smallest call that was found to raise the exception, where others are answered.
    largest: the largest of each size of the problems that were answered, by name. promise: of bits,
    if the clause is about one. smallest: the smallest problem found on which bits differ that
    nobody promised, in a line. programs: compiled during the run. drawn: the word that draws a
    problem again (`replaying`) -> the result. Raises ValueError for an unknown clause or dtype: the
    two name files of a report.
    """

    clause: str
    name: str
    force: str
    dtype: str
    outcome: Outcome
    examples: int = 0
    worst: float = 0.0
    counterexample: Counterexample | None = None
    refused: int = 0
    refused_kinds: tuple[tuple[str, ...], ...] = ()
    message: str = ""
    rounding: Grade = "strict"
    raised: str = ""
    coverage: tuple[int, int, int] = (0, 0, 0)
    largest: Mapping[str, int] = field(default_factory=dict)
    programs: int = 0
    drawn: Mapping[str, str] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    likewise: str = ""
    script: str = ""
    causes: tuple[int, ...] = ()
    promise: str = ""
    smallest: str = ""

    def __post_init__(self) -> None:
        if not NUMBER.fullmatch(self.clause):
            raise ValueError(f"{self.clause!r} is not the number of a clause")
        if self.dtype not in DTYPES:
            raise ValueError(f"{self.dtype!r} is not a dtype")

    @property
    def ran(self) -> bool:
        """Whether at least one problem was answered."""
        return self.examples > 0 and self.outcome in ("holds", "violated", "deviates")

    def after(self, look: "Verdict") -> "Verdict":
        """The same verdict, with the cost of an earlier look at its clause."""
        parts = {*self.seconds} | {*look.seconds}
        seconds = {x: self.seconds.get(x, 0.0) + look.seconds.get(x, 0.0) for x in parts}
        return replace(self, seconds=seconds, programs=self.programs + look.programs)


def larger(one: Mapping[str, int], other: Mapping[str, int]) -> dict[str, int]:
    """The larger one of each size, by name."""
    return {x: max(one.get(x, 0), other.get(x, 0)) for x in {**one, **other}}


def unrun(clause: Clause, dtype: str, outcome: Outcome, message: str) -> Verdict:
    """The verdict on a clause that was tested on no problem."""
    return Verdict(
        clause.number,
        clause.name,
        clause.force,
        dtype,
        outcome,
        message=message,
        promise=clause.promise,
    )


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON: infinite numbers are words, and defaults are left out."""
    example = verdict.counterexample
    written = {
        **vars(verdict),
        "worst": number(verdict.worst),
        "counterexample": example and counterexample_to_json(example),
        "coverage": verdict.coverage if any(verdict.coverage) else (),
        "largest": dict(verdict.largest),
        "drawn": dict(verdict.drawn),
        "seconds": dict(verdict.seconds),
    }
    usual = {"rounding": Verdict.rounding}
    return {n: x for n, x in written.items() if n == "examples" or (x and x != usual.get(n))}


def counterexample_to_json(example: Counterexample) -> dict[str, Any]:
    """A counterexample as JSON."""
    place = example.place and {name: number(x) for name, x in vars(example.place).items()}
    compared = example.compared and problem_to_json(example.compared)
    arrays = {"problem": problem_to_json(example.problem), "compared": compared}
    written = {**vars(example), **arrays, "place": place}
    return {n: x for n, x in written.items() if x or n != "apiece"}


def verdict_from_json(written: Mapping[str, Any]) -> Verdict:
    """The verdict that `verdict_to_json` wrote."""
    turned: Mapping[str, Callable[[Any], Any]] = {
        "worst": float,
        "coverage": tuple,
        "causes": tuple,
        "refused_kinds": lambda kinds: tuple(map(tuple, kinds)),
        "counterexample": lambda example: example and counterexample_from_json(example),
    }
    return Verdict(**{name: turned.get(name, _itself)(x) for name, x in written.items()})


def _itself(x: Any) -> Any:
    return x


def counterexample_from_json(example: Mapping[str, Any]) -> Counterexample:
    """The counterexample that `counterexample_to_json` wrote."""
    problem = problem_from_json(kind_of(example["about"]).problem, example["problem"])
    place, looks_like = example["place"], tuple(example["looks_like"])
    if place is not None:
        numbers = {name: float(place[name]) for name in ("got", "want", "budget")}
        place = Place(tuple(place["index"]), **numbers)
    told = {"problem": problem, "place": place, "looks_like": looks_like}
    told["apiece"] = tuple(example.get("apiece", ()))
    if example.get("compared"):
        told["compared"] = problem_from_json(Compared, example["compared"])
    return Counterexample(**{**example, **told})
