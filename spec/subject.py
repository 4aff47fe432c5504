"""Who is judged, and on what: the shape that every kind of subject has in common.

An attention function, a layer, an encoding of positions, a cache: each is a frozen
record of plain functions on problems of its own kind, and says by `about` which. A
clause quantifies over a domain, a domain is about one kind of subject, and so a
clause is only ever put to the records that it speaks of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from hypothesis import strategies as st

from spec.implementation import Capability
from spec.notation import Grade


class Posed(Protocol):
    """A problem, of whatever kind."""

    @property
    def dtype(self) -> str: ...
    @property
    def rounding(self) -> Grade: ...
    @property
    def seed(self) -> int: ...
    def but(self, **changes: Any) -> Any:
        """The same problem, except for `changes`."""


class Subject(Protocol):
    """A record of plain functions on problems, and what it leaves out.

    about: the kind of subject. functions: the names of the fields that are functions.
    The rest is as `spec.implementation.Implementation` has it.
    """

    @property
    def about(self) -> str: ...
    @property
    def functions(self) -> tuple[str, ...]: ...
    @property
    def name(self) -> str: ...
    @property
    def answers(self) -> frozenset[Capability]: ...
    @property
    def differentiates(self) -> frozenset[Capability]: ...
    @property
    def offers(self) -> frozenset[Capability]: ...
    @property
    def dtypes(self) -> tuple[str, ...]: ...
    @property
    def chosen(self) -> Mapping[str, str]: ...
    @property
    def deviations(self) -> Mapping[str, str]: ...
    @property
    def origin(self) -> str: ...
    def but(self, **changes: Any) -> Any:
        """The same record, except for `changes`."""

    def kinds_of(self, problem: Any) -> frozenset[Capability]:
        """The kinds of problem that `problem` is; empty for the core."""


class Domain(Protocol):
    """Where a clause quantifies: problems of one kind, drawn as far as they are answered."""

    @property
    def about(self) -> str: ...
    @property
    def needs(self) -> frozenset[Capability]: ...
    def within(self, scope: Any) -> st.SearchStrategy[Any]:
        """The strategy for the problems of this domain that lie in `scope`."""
