"""What is found out about one clause in one dtype, and how it is written down.

holds         no example broke it
violated      an example broke it
deviates      it is broken, as the project's list or the person who asks says that it is
not offered   the implementation lacks what the clause is about
refused       it has it, and would not answer
blocked       the clause was not run: the budget was spent, or an earlier failure ended the run
crashed       the process died or hung while the clause was run, or the clause itself failed
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from spec.clause import Clause
from spec.comparison import Place
from spec.kinds import kind_of
from spec.written import number, problem_from_json, problem_to_json

Outcome = Literal["holds", "violated", "deviates", "not offered", "refused", "blocked", "crashed"]
OUTCOMES: tuple[Outcome, ...] = (
    "holds",
    "violated",
    "deviates",
    "not offered",
    "refused",
    "blocked",
    "crashed",
)


@dataclass(frozen=True)
class Counterexample:
    """A problem that breaks a clause, and what there is to say about it.

    about: the kind of subject that it is put to. sentence, formula: what the clause says.
    looks_like: known mistakes that give the same answer. script: a program that repeats the
    failure. reduced: the search for a smaller one is over.
    """

    problem: Any  # of the kind that the clause is about
    message: str
    about: str = "attention"
    sentence: str = ""
    formula: str = ""
    place: Place | None = None
    looks_like: tuple[str, ...] = ()
    script: str = ""
    reduced: bool = False


@dataclass(frozen=True)
class Verdict:
    """What was found out about one clause in one dtype.

    examples: problems that were put and answered; refused: problems that were put and not answered.
    worst: the largest error divided by its budget. message: why, where that needs saying.
    likewise: what it calls that is known to break the clause in the same way.
    coverage: rows that see a key; of these, those held to the hull only; and those about
    whose gradients nothing is claimed.
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
    message: str = ""
    rounding: str = "strict"
    coverage: tuple[int, int, int] = (0, 0, 0)
    seconds: Mapping[str, float] | None = None
    likewise: str = ""

    @property
    def ran(self) -> bool:
        """Whether at least one example was answered."""
        return self.examples > 0 and self.outcome in ("holds", "violated", "deviates")


def unrun(clause: Clause, dtype: str, outcome: Outcome, message: str) -> Verdict:
    """The verdict on a clause that no example was put to."""
    return Verdict(clause.number, clause.name, clause.force, dtype, outcome, message=message)


def verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    """A verdict as JSON has it: numbers that JSON lacks are written as words."""
    written = {name: getattr(verdict, name) for name in verdict.__dataclass_fields__}
    written["worst"] = number(verdict.worst)
    written["seconds"] = dict(verdict.seconds or {})
    example = verdict.counterexample
    if example is not None:
        place = asdict(example.place) if example.place else None
        written["counterexample"] = {
            "problem": problem_to_json(example.problem),
            "message": example.message,
            "about": example.about,
            "sentence": example.sentence,
            "formula": example.formula,
            "place": {k: number(v) for k, v in place.items()} if place else None,
            "looks_like": list(example.looks_like),
            "script": example.script,
            "reduced": example.reduced,
        }
    return written


def verdict_from_json(written: Mapping[str, Any]) -> Verdict:
    """The verdict that `verdict_to_json` wrote."""
    fields = dict(written)
    fields["worst"] = float(fields["worst"])
    fields["coverage"] = tuple(fields["coverage"])
    found = fields["counterexample"]
    if found is not None:
        place = found["place"]
        fields["counterexample"] = Counterexample(
            problem=problem_from_json(kind_of(found["about"]).problem, found["problem"]),
            message=found["message"],
            about=found["about"],
            sentence=found["sentence"],
            formula=found["formula"],
            place=_place(place) if place else None,
            looks_like=tuple(found["looks_like"]),
            script=found["script"],
            reduced=found["reduced"],
        )
    return Verdict(**fields)


def _place(written: Mapping[str, Any]) -> Place:
    numbers = {name: float(written[name]) for name in ("got", "want", "budget")}
    return Place(index=tuple(written["index"]), **numbers)
