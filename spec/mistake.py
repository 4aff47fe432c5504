"""What a mistake is: a plausible wrong implementation, with a name and a sentence.

Each kind of subject has a catalogue of them, beside its clauses: its right steps with one of
them replaced, so that each is wrong in one way, and can be certified (and rejected) like
anybody else's. A few are right after all, and must be certified.

    attention     spec.attention.mistakes
    layer         spec.layer.mistakes
    cache         spec.cache.mistakes
    positions     spec.positions.{sinusoidal,rotary,alibi}.mistakes
    feed-forward  spec.feed_forward.mistakes
    dropout       spec.dropout.mistakes
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from types import ModuleType
from typing import Any, Literal, TypeVar

Force = Literal["must", "should"]
Target = TypeVar("Target")


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong implementation.

    sentence: the temptation, in one line.
    incident: the class of real bugs that it belongs to (I01 to I40), or the published
        system (S0 to S4) that has it: see incidents.md, beside this file; or "plausible".
    target: what is plugged in, a function or a class. load: makes the record of such a target.
    citation: where it was reported; empty where it is merely plausible.
    dtypes: where it shows.
    harmless: it is right after all, and must be certified.
    convention: it is right where this convention is declared.
    force: "should" where only a `should` clause can object.
    """

    name: str
    sentence: str
    incident: str
    target: Any
    load: Callable[..., Any]
    citation: str = ""
    dtypes: tuple[str, ...] = ("float32",)
    harmless: bool = False
    convention: tuple[str, str] | None = None
    force: Force = "must"

    @cached_property
    def subject(self) -> Any:
        """The mistake as a record to be judged."""
        return self.load(self.target, name=self.name, backend="numpy")

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        numbered = self.incident[1:].isdigit()
        kind = "system" if self.incident[0] == "S" else "incident"
        words = f"{kind} {self.incident}, spec/incidents.md" if numbered else self.incident
        return f"{words}, e.g. {self.citation}" if self.citation else words


def described(
    target: Target, source: Callable[..., Any], record: type[Mistake] = Mistake, **facts: Any
) -> Target:
    """The target under the name and docstring of `source`, its record attached as `mistake`."""
    sentence = (source.__doc__ or "").splitlines()[0]
    named = {x: getattr(source, x) for x in ("__name__", "__doc__", "__module__")}
    mistake = record(name=source.__name__, sentence=sentence, target=target, **facts)
    for name, x in {**named, "__qualname__": source.__name__, "mistake": mistake}.items():
        setattr(target, name, x)
    return target


def catalogue(*modules: ModuleType) -> dict[str, Any]:
    """The mistakes of some modules, by name, in the order in which they stand there."""
    values = (value for module in modules for value in vars(module).values())
    records = (getattr(value, "mistake", None) for value in values)
    return {record.name: record for record in records if isinstance(record, Mistake)}
