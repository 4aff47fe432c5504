"""The versions of the specification, and the numbers of its retired clauses.

A version is a promise: as long as it stays the same, every number has the same meaning.
`spec.certification.judging.edition` is the hash of the sources, which also changes where the
meaning does not. The rule for adding and retiring clauses is in CONTRIBUTING.md (*Changing a
clause*); `tests/test_version.py` checks it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

VERSIONS = ("2026.11",)  # year.month, the oldest first: as strings they sort in this order
FIRST, CURRENT = VERSIONS[0], VERSIONS[-1]


@dataclass(frozen=True)
class Retired:
    """The end of a clause.

    until: the last version that had its clause. superseded: the number of the clause that replaces
    it; if there is none, `reason` says why.
    """

    until: str
    superseded: str | None = None
    reason: str = ""


RETIRED: Mapping[str, Retired] = {}


def no_clause(word: str, command: str) -> str:
    """The message about a word that names no clause; for a retired number, what to use instead.

    command: what a person types to start the command line.
    """
    gone = RETIRED.get(word)
    if gone is None:
        return f"unknown clause {word!r}: `{command} clauses` lists them"
    instead = f"use {gone.superseded}" if gone.superseded else gone.reason
    return f"clause {word} was retired after version {gone.until}: {instead}"
