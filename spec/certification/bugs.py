"""The clauses that must reject a known bug, or a class of known bugs in spec/incidents.md."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from spec.backends import Unsuitable
from spec.clause import Clause
from spec.kinds import KINDS
from spec.mistake import Mistake

INCIDENTS = Path(__file__).resolve().parents[1] / "incidents.md"
ENTRY = re.compile(r'^### <a id="([\w-]+)"></a>\1:? (.+?)\n.*?^- Known bugs:(.*?)$', re.M | re.S)
LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")
NUMBERED = re.compile(r"bug-?0*(\d+)", re.IGNORECASE)

Named = tuple[str, Mistake]  # the kind of target that a known bug belongs to, and the bug


def bugs(word: str) -> tuple[str, tuple[Named, ...]] | None:
    """The title and the known bugs of a class, or one known bug; None for any other word.

    Raises Unsuitable for the number of a class that does not exist, or that has no known bugs.
    """
    number = NUMBERED.fullmatch(word)
    name = f"BUG-{number[1]:0>2}" if number else word
    classes = {x[1]: x for x in ENTRY.finditer(INCIDENTS.read_text(encoding="utf-8"))}
    if name in classes:
        found = tuple(x for x in _all() if x[1].incident == name)
        if not found:
            reason = LINK.sub(r"\1", classes[name][3].partition(". ")[2])
            raise Unsuitable(f"{name} ({classes[name][2]}) lists no known bugs. {reason}")
        return f"{name}: {classes[name][2]}", found
    if number:
        last = max(x for x in classes if x.startswith("BUG-"))
        raise Unsuitable(f"unknown class of bugs {word!r}: there are BUG-01 to {last}")
    found = tuple(x for x in _all() if x[1].name == name)
    return (found[0][1].line, found) if found else None


def _all() -> Iterator[Named]:
    yield from ((about, x) for about, kind in KINDS.items() for x in kind.mistakes.values())


def rejecting(clauses: Mapping[str, Clause], found: Iterable[Named]) -> Mapping[str, Clause]:
    """The clauses that list one of these known bugs as one that they must reject."""
    names = {(about, x.name) for about, x in found}
    hits = {n: {(c.about, name) for name in c.catches} & names for n, c in clauses.items()}
    return {n: clauses[n] for n, caught in hits.items() if caught}
