"""The common part of all domains: the scope of a target, and how choices give a problem.

A domain says which problems a clause is about; a scope says which part of them is drawn.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from spec.choices import Choices
from spec.notation import Grade
from spec.sizes import Reach


@dataclass(frozen=True)
class Scope:
    """The scope that an implementation supports: the part of a domain that problems are drawn from.

    answers: the supported kinds of problem. conventions: its choice for each convention. multiples:
    what "lengths" and "widths" are multiples of, where not all are tested. palette: for a target
    that is tested on few shapes, numbers that stand for shapes and options, used in turn
    (`choices.Numbered`).
    """

    dtype: str = "float64"
    answers: frozenset[str] = frozenset()
    conventions: Mapping[str, str] = field(default_factory=dict)
    rounding: Grade = "strict"
    reach: Reach = "standard"
    multiples: Mapping[str, int] = field(default_factory=dict)
    palette: tuple[int, ...] = ()


class Domain(Protocol):
    """The problems of one kind that a clause is about, drawn as far as they are supported."""

    @property
    def about(self) -> str: ...
    @property
    def needs(self) -> frozenset[str]: ...
    def problem(self, choices: Choices, scope: Scope) -> Any:
        """The problem of this domain, in `scope`, that these choices give."""
