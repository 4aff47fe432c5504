"""The results of probing a target: what is left of it in each dtype, and what it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from spec.certification.target.cost import Cost
from spec.certification.target.precision import IN_SINGLE
from spec.subject import not_offered


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

    cost: of compiling for what is left, if that is planned; programs: compiled for these results
    by copies of this process. Other processes get neither.
    """

    by_dtype: Mapping[str, Any]
    refusals: tuple[Refusal, ...]
    notes: tuple[str, ...] = ()
    cost: Cost | None = None
    programs: int = 0

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
        left = {dtype: left_of(record) for dtype, record in self.by_dtype.items()}
        refusals = [vars(refusal) for refusal in self.refusals]
        return {"by_dtype": left, "refusals": refusals, "notes": self.notes}

    @staticmethod
    def from_json(record: Any, written: Mapping[str, Any]) -> Probed:
        """The findings that `to_json` wrote, of the same record in another process."""
        by_dtype = {dtype: only(record, dtype, x) for dtype, x in written["by_dtype"].items()}
        refusals = tuple(Refusal(**refusal) for refusal in written["refusals"])
        return Probed(by_dtype, refusals, tuple(written["notes"]))


def left_of(record: Any) -> dict[str, Any]:
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
    return only(record, dtype, left_of(like))


def only(record: Any, dtype: str, left: Mapping[str, Any]) -> Any:
    """The record with no more than what was left of it in a dtype."""
    kinds = {n: frozenset(left[n]) for n in ("answers", "differentiates")}
    lost = dict.fromkeys(left["lost"], not_offered)
    palette = {number: tuple(shapes) for number, shapes in left["palette"].items()}
    seen = {"multiples": left["multiples"], "palette": palette}
    seen["conventions"] = {**record.conventions, **left["shown"]}
    return record.but(**kinds, **lost, **seen, dtypes=(dtype,))
