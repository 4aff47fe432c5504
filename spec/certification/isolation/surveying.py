"""The survey that a worker reports after probing, checked as far as possible without the target."""

from collections.abc import Mapping
from typing import Any

from spec.backends import Unsuitable
from spec.certification.isolation.protocol import Interfered, read
from spec.certification.judging.plan import Item
from spec.certification.judging.survey import Survey
from spec.certification.judging.verdict import Verdict, unrun
from spec.certification.settings import Request, concerning, with_definition
from spec.certification.target.probed import Refusal
from spec.clause import Clause
from spec.kinds import KINDS
from spec.notation import DTYPES
from spec.typed import fits, typed

OUTCOMES = ("refused", "not offered")  # that need no run
LEFT: Mapping[str, Any] = {  # of a record in a dtype, by probing
    "answers": tuple[str, ...],
    "differentiates": tuple[str, ...],
    "lost": tuple[str, ...],
    "multiples": Mapping[str, int],
    "shown": Mapping[str, str],
    "palette": Mapping[str, Any],
}


def read_survey(
    message: Mapping[str, Any], request: Request, clauses: Mapping[str, Clause]
) -> Survey:
    """The survey in a message, with each clause and dtype once. Raises Interfered."""
    survey = read(lambda: typed(Survey.from_json(message["survey"])), "survey")
    formats = read(lambda: _probed(message["probed"]), "survey")
    if not (
        _about(survey, request, clauses)
        and _complete(survey, request.dtypes or DTYPES)
        and all(_settled(verdict, clauses) for verdict in survey.settled)
        and {dtype for _, dtype in survey.items} <= formats
        and _deviates(survey, request)
    ):
        raise Interfered("told a survey that there cannot be")
    return survey


def _about(survey: Survey, request: Request, clauses: Mapping[str, Clause]) -> bool:
    """Whether it is about one kind of subject and has all selected clauses about it."""
    if survey.about not in KINDS or survey.about != (request.kind or survey.about):
        return False
    kind = KINDS[survey.about]
    asked = with_definition(request, clauses, kind.definition)
    try:
        mine = (*concerning(clauses, asked.clauses, survey.about),)
    except Unsuitable:
        return False
    told = (survey.definition, survey.order, survey.command)
    return told == (kind.definition, mine, asked.command()) and survey.programs >= 0


def _complete(survey: Survey, dtypes: tuple[str, ...]) -> bool:
    """Whether each clause is settled or to be run, once, in each dtype of the target."""
    found = [*survey.items, *((v.clause, v.dtype) for v in survey.settled)]
    taken = {dtype for _, dtype in found}
    every: set[Item] = {(number, dtype) for number in survey.order for dtype in taken}
    refused = {(refusal.dtype, refusal.direction) for refusal in survey.refusals}
    known = {*dtypes}
    return (
        len(found) == len(every)
        and {*found} == every
        and taken <= known
        and {dtype for dtype, _ in refused} <= known
        and {direction for _, direction in refused} <= {"forward", "backward"}
    )


def _settled(verdict: Verdict, clauses: Mapping[str, Clause]) -> bool:
    """Whether a clause can have this verdict without a run."""
    clause = clauses[verdict.clause]
    plain = unrun(clause, verdict.dtype, verdict.outcome, "")
    same = all(getattr(verdict, x) == getattr(plain, x) for x in ("name", "force", "promise"))
    return same and verdict.outcome in OUTCOMES and not (verdict.examples or verdict.causes)


def _deviates(survey: Survey, request: Request) -> bool:
    """Whether its deviations were declared, by a person or by the chapter of its kind."""
    listed = KINDS[survey.about].targets.known.items()
    said = {(n, f"declared: {' '.join(x.split())}") for n, x in request.deviations.items()}
    for (_, device), deviations in listed:
        if device == request.device:
            said |= {(number, one.reason) for one in deviations for number in one.clauses}
    return {*survey.deviations.items()} <= said and {*survey.strict} <= {*survey.deviations}


def _probed(written: Mapping[str, Any]) -> set[str]:
    """The dtypes with clauses left to judge. Raises ValueError, KeyError or TypeError."""
    for refusal in written["refusals"]:
        typed(Refusal(**refusal))
    told = {dtype: {**left} for dtype, left in written["by_dtype"].items()}
    for left in told.values():
        held = {n: tuple(x) if isinstance(x, list) else x for n, x in left.items()}
        if held.keys() != LEFT.keys() or not all(fits(LEFT[n], x) for n, x in held.items()):
            raise ValueError("what is left of it is of another type")
    if not fits(tuple[str, ...], tuple(written["notes"])):
        raise ValueError("notes are of another type")
    return {*told}
