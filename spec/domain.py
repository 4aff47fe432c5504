"""What every domain shares: what is asked of whom, and what a problem is made of.

A domain says where a clause quantifies; a scope, which part of it is drawn from.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from spec.choices import Choices
from spec.notation import Grade
from spec.sizes import Reach


@dataclass(frozen=True)
class Scope:
    """What may be asked of an implementation: the part of a domain that is drawn from.

    answers: the kinds of problem it answers. conventions: what it chose where it had a choice.
    multiples: of what number "lengths" and "widths" are, where not all are asked. palette: numbers
    that stand for shapes and options, in turn, of who is asked a few of them (`choices.Numbered`).
    """

    dtype: str = "float64"
    answers: frozenset[str] = frozenset()
    conventions: Mapping[str, str] = field(default_factory=dict)
    rounding: Grade = "strict"
    reach: Reach = "standard"
    multiples: Mapping[str, int] = field(default_factory=dict)
    palette: tuple[int, ...] = ()


class Domain(Protocol):
    """Where a clause quantifies: problems of one kind, drawn as far as they are answered."""

    @property
    def about(self) -> str: ...
    @property
    def needs(self) -> frozenset[str]: ...
    def problem(self, choices: Choices, scope: Scope) -> Any:
        """The problem of this domain in `scope` that some choices make."""
