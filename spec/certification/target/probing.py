"""The kinds of problem for which an implementation raises exceptions, found on tiny problems.

An exception is not a wrong answer. Before anything is judged, a few problems of each kind are tried
in each dtype, forward and backward. If all of a kind raise exceptions, no problems of that kind are
drawn, and the certificate lists it with the message and the shapes that were tried. A dtype whose
basic case raises one is not tested. If the library never has a gradient, it is not supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from spec.abilities import Functions, Problems
from spec.backends.calling import UNTESTED
from spec.backends.compiled import none, programs
from spec.backends.interpreting import interprets
from spec.backends.shapes import raised_for
from spec.certification.each import Each, one_by_one
from spec.certification.target.precision import in_single
from spec.certification.target.probed import Probed, Refusal, left_of, only
from spec.comparison import Violation
from spec.kind import Kind
from spec.kinds import kind_of
from spec.subject import Backward, NoGradient, Raised, Refused, not_offered

ROUNDING = ("cpu",)  # devices that round sums of products to nearest, so that nobody is asked


def probed(record: Any, device: str = "cpu", each: Each = one_by_one) -> Probed:
    """The record narrowed to what it answers, dtype by dtype.

    each: runs a function on the dtypes, if the record compiles; else they are probed one by one.
    """
    found = kind_of(record.about)
    if record.chosen.get("gradients") == "none":
        record = record.without_gradients()
    first = {dtype: _basic(found, record, dtype) for dtype in record.dtypes[:1]}
    before = programs()
    of_dtype = partial(_of_dtype, found, record, device, first)
    with closing((one_by_one if none() else each)(of_dtype, record.dtypes)) as answers:
        told = [*zip(record.dtypes, answers, strict=True)]
    by_dtype = {dtype: only(record, dtype, x.left) for dtype, x in told if x.left is not None}
    refusals = tuple(refusal for _, x in told for refusal in x.refusals)
    notes = (*in_single(found, by_dtype), *_tiled(found, by_dtype))
    notes = (*_untrained(found, record, by_dtype, refusals), *notes)
    others = sum(x.programs for _, x in told) - (programs() - before)
    return Probed(by_dtype, refusals, notes, programs=others)


class _Told(NamedTuple):
    """The results in one dtype, as another process can send them: `left_of` the record, or None."""

    left: Mapping[str, Any] | None
    refusals: Sequence[Refusal]
    programs: int


def _of_dtype(
    found: Kind, record: Any, device: str, known: Mapping[str, Refused | None], dtype: str
) -> _Told:
    """The results in one dtype. known: those of the basic case in some dtypes."""
    before, refusals = programs(), list[Refusal]()
    refusal = known[dtype] if dtype in known else _basic(found, record, dtype)
    if refusal is not None:
        refusals.append(Refusal(dtype, dtype, "forward", str(refusal)))
        return _Told(None, refusals, programs() - before)
    left = _narrowed(found, record, dtype, refusals)
    left = left if device in ROUNDING else _seen(found, left, dtype)
    return _Told(left_of(left), refusals, programs() - before)


def _basic(found: Kind, record: Any, dtype: str) -> Refused | None:
    """The refusal of the basic case in a dtype, if there is one."""
    return _refusal(found.functions, record, found.functions.first, found.core(dtype))


def _tiled(found: Kind, by_dtype: Mapping[str, Any]) -> Iterator[str]:
    """A line for each kind of problem that is answered at some lengths alone."""
    for kind in found.trials.tiles:
        asked = {dtype: record.multiples.get(kind, 1) for dtype, record in by_dtype.items()}
        for number in sorted({*asked.values()} - {1}):
            dtypes = ", ".join(dtype for dtype, x in asked.items() if x == number)
            yield f"{kind} only at lengths that are multiples of {number} [{dtypes}]"


def _untrained(
    found: Kind, record: Any, by_dtype: Mapping[str, Any], refusals: Sequence[Refusal]
) -> Iterator[str]:
    """A line for each parameter of a model of which the library has no gradient, but of others."""
    raised = {(refusal.what, refusal.dtype) for refusal in refusals}
    for name in (name for name in found.trials.learned if name in record.offered):
        lost = []
        for dtype, left in by_dtype.items():
            capability, problems = found.trials.of_functions(dtype)[name]
            put = (found.functions.fitted(left, problem) for problem in problems)
            asked = "backward" in left.offered and all(
                left.kinds_of(problem) <= left.differentiates for problem in put
            )
            if asked and name not in left.offered and (capability, dtype) not in raised:
                lost.append(dtype)
        if lost:
            yield f"{UNTESTED}{found.trials.learned[name]} [{', '.join(lost)}]"


def _seen(found: Kind, record: Any, dtype: str) -> Any:
    """The record with the conventions that problems show."""
    return record.but(conventions={**record.conventions, **found.conventions.shows(record, dtype)})


def _narrowed(found: Kind, record: Any, dtype: str, refusals: list[Refusal]) -> Any:
    """The record as it is in one dtype; what it refuses is added to `refusals`."""
    left, functions = _answering(found, record, dtype, refusals), found.functions
    answers, differentiates = left.answers, left.differentiates
    backward = "backward" in left.offered and differentiates == record.differentiates
    shown = _shown(found, left, dtype, functions.first, answers)
    turned = _shown(found, left, dtype, "backward", differentiates) if backward else frozenset()
    for kind, problems in found.trials.kinds(dtype).items():
        if kind not in answers:
            differentiates -= {kind}
            continue
        refusal = None if kind in shown else always(functions, left, functions.first, problems)
        tiled = None if refusal is None else _in_tiles(found, left, kind, problems)
        left, refusal = (left, refusal) if tiled is None else (tiled, None)
        if refusal is not None:
            refusals.append(Refusal(kind, dtype, "forward", str(refusal)))
            answers -= {kind}
            differentiates -= {kind}
        elif backward and kind in differentiates - turned:
            refusal = always(functions, left, "backward", problems)
            if refusal is not None:
                refusals.append(Refusal(kind, dtype, "backward", str(refusal)))
                differentiates -= {kind}
    return left.but(answers=answers, differentiates=differentiates, dtypes=(dtype,))


def _shown(
    found: Kind, record: Any, dtype: str, name: str, kinds: frozenset[str]
) -> frozenset[str]:
    """Those of some kinds of problem that a function answers all at once.

    It is asked so first where anything was compiled, as problems of one kind each take more
    programs, or is interpreted; elsewhere they take no time, and what crashes is told by its kind.
    """
    asked = () if none() and not interprets() else found.trials.of_many(dtype, kinds)
    put = (found.functions.fitted(record, problem) for problem in asked)
    answered = (p for p in put if _refusal(found.functions, record, name, p) is None)
    return frozenset(kind for problem in answered for kind in record.kinds_of(problem))


def _in_tiles(found: Kind, record: Any, kind: str, problems: Problems) -> Any:
    """The record that is asked about a kind at multiples of a number alone, if it answers there."""
    for number in found.trials.tiles.get(kind, ()):
        tiled = record.but(multiples={**record.multiples, kind: number})
        if always(found.functions, tiled, found.functions.first, problems) is None:
            return tiled
    return None


def _answering(found: Kind, record: Any, dtype: str, refusals: list[Refusal]) -> Any:
    """The record without the functions that raise an exception even in the basic case.

    Gradients that raise one are kept, and so fail their clauses: without them a target that cannot
    be trained would be certified. A target for inference raises NotImplementedError instead, or
    declares that it has no gradients.
    """
    lost, functions = dict[str, Any](), found.functions
    for name, (capability, problems) in found.trials.of_functions(dtype).items():
        if name not in record.offered:
            continue
        put = (functions.fitted(record, problem) for problem in problems)
        kinds = frozenset.intersection(*map(record.kinds_of, put))
        if not kinds <= record.answers:
            lost[name] = not_offered
            continue
        refusal = always(functions, record, name, problems)
        if refusal is None:
            continue
        if capability == Backward.GRADIENTS and isinstance(refusal, Raised):
            lost["differentiates"] = record.differentiates & {*record.otherwise}  # the basic case
            continue
        lost[name] = not_offered
        if not isinstance(refusal, NoGradient):
            refusals.append(Refusal(capability, dtype, "backward", str(refusal)))
    return record.but(**lost)


def always(functions: Functions, record: Any, name: str, problems: Problems) -> Refused | None:
    """The first refusal, if every one of the problems is refused, with the shapes of all."""
    refused = list[Refused]()
    for problem in problems:
        refusal = _refusal(functions, record, name, problem)
        if refusal is None:
            return None
        refused.append(refusal)
    first = next(iter(refused), None)
    shapes = raised_for(refusal.given for refusal in refused) if first and first.given else ""
    return type(first)(f"{first}{shapes}") if first and shapes else first


def _refusal(functions: Functions, record: Any, name: str, problem: Any) -> Refused | None:
    """The refusal; None for an answer, even for a wrong one."""
    try:
        with suppress(Violation), np.errstate(all="ignore"):
            functions.put(record, name, problem)
    except Refused as refusal:
        return refusal
    return None
