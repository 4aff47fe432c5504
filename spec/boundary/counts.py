"""The work of compilers of functions in the runners of a target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from spec.boundary.messages import LARGEST, fields, several, text, whole

NAMES = {"programs", "of_jax", "any", "not_compiled"}


@dataclass(frozen=True)
class Counts:
    """The numbers of compiled programs, whether there was any, and why parts were not compiled.

    of_jax: the programs of JAX, with those that were taken from where they were kept.
    """

    programs: int = 0
    of_jax: int = 0
    any: bool = False
    not_compiled: Sequence[str] = ()

    @classmethod
    def read(cls, told: Any) -> Counts:
        """The counts of a runner in a message. Raises Interfered."""
        found = fields(told, NAMES)
        programs, of_jax = (whole(found[name], 0, LARGEST) for name in ("programs", "of_jax"))
        reasons = [text(x) for x in several(found["not_compiled"], 0)]
        return cls(programs, of_jax, found["any"] is True, reasons)

    def __add__(self, other: Counts) -> Counts:
        programs, of_jax = self.programs + other.programs, self.of_jax + other.of_jax
        reasons = dict.fromkeys((*self.not_compiled, *other.not_compiled))
        return Counts(programs, of_jax, self.any or other.any, [*reasons])
