"""The kinds of problem for which an implementation raises exceptions, found on tiny problems.

An exception is not a wrong answer. Before anything is judged, a few problems of each kind are tried
in each dtype, forward and backward. If all of a kind raise exceptions, no problems of that kind are
drawn, and the certificate lists it with the message and the shapes that were tried. A dtype whose
basic case raises one is not tested. If the library never has a gradient, it is not supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.backends.compiled import none
from spec.backends.interpreting import interprets
from spec.backends.shapes import raised_for
from spec.certification.target.cost import Cost
from spec.certification.target.precision import IN_SINGLE, in_single
from spec.comparison import Violation
from spec.kind import Kind
from spec.kinds import kind_of
from spec.subject import Backward, NoGradient, Raised, Refused, not_offered

ROUNDING = ("cpu",)  # devices that round sums of products to nearest, so that nobody is asked


@dataclass(frozen=True)
class Refusal:
    """A kind of problem that raises an exception, the dtype and the direction, and the message.

    crashed: the process died or hung during the call, so the kind may be supported.
    """

    what: str
    dtype: str
    direction: str
    message: str
    crashed: bool = False


@dataclass(frozen=True)
class Probed:
    """The record that is left to judge in each dtype, the refusals, and notes.

    cost: of compiling for what is left, if that is planned; other processes do not get it.
    """

    by_dtype: Mapping[str, Any]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()
    cost: Cost | None = None

    @property
    def exact(self) -> str:
        """The most exact dtype in which it computes what is in it."""
        in_another = "float64" if IN_SINGLE in self.notes else ""
        return next((dtype for dtype in self.by_dtype if dtype != in_another), in_another)

    @property
    def shown(self) -> Mapping[str, str]:
        """Conventions that nobody declares, as problems showed them, by name and dtype."""
        found = self.by_dtype.items()
        return {f"{n} {dtype}": x for dtype, record in found for n, x in _shown_by(record).items()}

    @property
    def sampled(self) -> bool:
        """Whether it is tested in some shapes only, as it compiles for each."""
        return any(record.palette for record in self.by_dtype.values())

    def to_json(self) -> dict[str, Any]:
        """The findings as JSON, for a process in which nothing was probed."""
        left = {dtype: _left(record) for dtype, record in self.by_dtype.items()}
        refusals = [vars(refusal) for refusal in self.refusals]
        return {"by_dtype": left, "refusals": refusals, "notes": self.notes}

    @staticmethod
    def from_json(record: Any, written: Mapping[str, Any]) -> Probed:
        """The findings that `to_json` wrote, of the same record in another process."""
        by_dtype = {dtype: _only(record, dtype, x) for dtype, x in written["by_dtype"].items()}
        refusals = tuple(Refusal(**refusal) for refusal in written["refusals"])
        return Probed(by_dtype, refusals, tuple(written["notes"]))


def probed(record: Any, device: str = "cpu") -> Probed:
    """The record narrowed to what it answers, dtype by dtype."""
    found = kind_of(record.about)
    if record.chosen.get("gradients") == "none":
        record = record.without_gradients()
    by_dtype: dict[str, Any] = {}
    refusals: list[Refusal] = []
    for dtype in record.dtypes:
        refusal = _refusal(found, record, found.first, found.core(dtype))
        if refusal is None:
            left = _narrowed(found, record, dtype, refusals)
            by_dtype[dtype] = left if device in ROUNDING else _seen(found, left, dtype)
        else:
            refusals.append(Refusal(dtype, dtype, "forward", str(refusal)))
    notes = (*in_single(found, by_dtype), *_tiled(found, by_dtype))
    return Probed(by_dtype, tuple(refusals), notes)


def _tiled(found: Kind, by_dtype: Mapping[str, Any]) -> Iterator[str]:
    """A line for each kind of problem that is answered at some lengths alone."""
    for kind in found.tiles:
        asked = {dtype: record.multiples.get(kind, 1) for dtype, record in by_dtype.items()}
        for number in sorted({*asked.values()} - {1}):
            dtypes = ", ".join(dtype for dtype, x in asked.items() if x == number)
            yield f"{kind} only at lengths that are multiples of {number} [{dtypes}]"


def _seen(found: Kind, record: Any, dtype: str) -> Any:
    """The record with the conventions that problems show."""
    return record.but(conventions={**record.conventions, **found.shows(record, dtype)})


def _left(record: Any) -> dict[str, Any]:
    """The attributes of a record that probing narrows, by name."""
    return {
        "answers": sorted(record.answers),
        "differentiates": sorted(record.differentiates),
        "multiples": dict(record.multiples),
        "palette": dict(record.palette),
        "lost": [name for name in record.functions if name not in record.offered],
        "shown": _shown_by(record),
    }


def _shown_by(record: Any) -> dict[str, str]:
    """Its conventions that are no choice of anybody."""
    return {name: x for name, x in record.conventions.items() if name not in record.choices}


def narrowed(record: Any, like: Any) -> Any:
    """A record with no more than what is left of another one of the same functions."""
    (dtype,) = like.dtypes
    return _only(record, dtype, _left(like))


def _only(record: Any, dtype: str, left: Mapping[str, Any]) -> Any:
    """The record with no more than what was left of it in a dtype."""
    kinds = {n: frozenset(left[n]) for n in ("answers", "differentiates")}
    lost = dict.fromkeys(left["lost"], not_offered)
    palette = {number: tuple(shapes) for number, shapes in left["palette"].items()}
    seen = {"multiples": left["multiples"], "palette": palette}
    seen["conventions"] = {**record.conventions, **left["shown"]}
    return record.but(**kinds, **lost, **seen, dtypes=(dtype,))


def _narrowed(found: Kind, record: Any, dtype: str, refusals: list[Refusal]) -> Any:
    """The record as it is in one dtype; what it refuses is added to `refusals`."""
    left = _answering(found, record, dtype, refusals)
    answers, differentiates = left.answers, left.differentiates
    backward = "backward" in left.offered and differentiates == record.differentiates
    shown = _shown(found, left, dtype, found.first, answers)
    turned = _shown(found, left, dtype, "backward", differentiates) if backward else frozenset()
    for kind, problems in found.kinds(dtype).items():
        if kind not in answers:
            differentiates -= {kind}
            continue
        refusal = None if kind in shown else always(found, left, found.first, problems)
        tiled = None if refusal is None else _in_tiles(found, left, kind, problems)
        left, refusal = (left, refusal) if tiled is None else (tiled, None)
        if refusal is not None:
            refusals.append(Refusal(kind, dtype, "forward", str(refusal)))
            answers -= {kind}
            differentiates -= {kind}
        elif backward and kind in differentiates - turned:
            refusal = always(found, left, "backward", problems)
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
    asked = () if none() and not interprets() else found.of_many(dtype, kinds)
    put = (found.fitted(record, problem) for problem in asked)
    answered = (p for p in put if _refusal(found, record, name, p) is None)
    return frozenset(kind for problem in answered for kind in record.kinds_of(problem))


def _in_tiles(found: Kind, record: Any, kind: str, problems: tuple[Any, ...]) -> Any:
    """The record that is asked about a kind at multiples of a number alone, if it answers there."""
    for number in found.tiles.get(kind, ()):
        tiled = record.but(multiples={**record.multiples, kind: number})
        if always(found, tiled, found.first, problems) is None:
            return tiled
    return None


def _answering(found: Kind, record: Any, dtype: str, refusals: list[Refusal]) -> Any:
    """The record without the functions that raise an exception even in the basic case.

    Gradients that raise one are kept, and so fail their clauses: without them a target that cannot
    be trained would be certified. A target for inference raises NotImplementedError instead, or
    declares that it has no gradients.
    """
    lost: dict[str, Any] = {}
    for name, (capability, problems) in found.trials(dtype).items():
        if name not in record.offered:
            continue
        put = (found.fitted(record, problem) for problem in problems)
        kinds = frozenset.intersection(*map(record.kinds_of, put))
        if not kinds <= record.answers:
            lost[name] = not_offered
            continue
        refusal = always(found, record, name, problems)
        if refusal is None:
            continue
        if capability == Backward.GRADIENTS and isinstance(refusal, Raised):
            lost["differentiates"] = record.differentiates & {*record.otherwise}  # the basic case
            continue
        lost[name] = not_offered
        if not isinstance(refusal, NoGradient):
            refusals.append(Refusal(capability, dtype, "backward", str(refusal)))
    return record.but(**lost)


def always(found: Kind, record: Any, name: str, problems: tuple[Any, ...]) -> Refused | None:
    """The first refusal, if every one of the problems is refused, with the shapes of all."""
    refused = list[Refused]()
    for problem in problems:
        refusal = _refusal(found, record, name, problem)
        if refusal is None:
            return None
        refused.append(refusal)
    first = next(iter(refused), None)
    shapes = raised_for(refusal.given for refusal in refused) if first and first.given else ""
    return type(first)(f"{first}{shapes}") if first and shapes else first


def _refusal(found: Kind, record: Any, name: str, problem: Any) -> Refused | None:
    """The refusal; None for an answer, even for a wrong one."""
    try:
        with suppress(Violation), np.errstate(all="ignore"):
            found.put(record, name, problem)
    except Refused as refusal:
        return refusal
    return None
