"""The clauses that must reject a known bug, or a class of known bugs in spec/incidents.md."""

import re
from collections.abc import Iterable, Iterator, Mapping

from spec.backends import Unsuitable
from spec.clause import Clause
from spec.kinds import KINDS
from spec.mistake import INCIDENTS, Mistake, titles

NONE = r'^### <a id="{}">.*?^- Known bugs:.*?\. (.*?)$'  # why a class has none
LINK = re.compile(r"\[([^]]+)\]\([^)]*\)")
NUMBERED = re.compile(r"bug-?0*(\d+)", re.IGNORECASE)

Named = tuple[str, Mistake]  # the kind of target that a known bug belongs to, and the bug


def bugs(word: str) -> tuple[str, tuple[Named, ...]] | None:
    """The title and the known bugs of a class, or one known bug; None for any other word.

    Raises Unsuitable for the number of a class that does not exist, or that has no known bugs.
    """
    number = NUMBERED.fullmatch(word)
    name = f"BUG-{number[1]:0>2}" if number else word
    if title := titles().get(name):
        found = tuple(x for x in _all() if x[1].incident == name)
        if not found:
            raise Unsuitable(f"{name} ({title}) lists no known bugs. {_reason(name)}")
        return f"{name}: {title}", found
    if number:
        last = max(x for x in titles() if x.startswith("BUG-"))
        raise Unsuitable(f"unknown class of bugs {word!r}: there are BUG-01 to {last}")
    found = tuple(x for x in _all() if x[1].name == name)
    return (found[0][1].line, found) if found else None


def _reason(name: str) -> str:
    """The sentence of a class that says why it has no known bugs; "" if none does."""
    text = INCIDENTS.read_text(encoding="utf-8")
    found = re.search(NONE.format(name), text, re.MULTILINE | re.DOTALL)
    return LINK.sub(r"\1", found[1]) if found else ""


def _all() -> Iterator[Named]:
    yield from ((about, x) for about, kind in KINDS.items() for x in kind.mistakes.values())


def rejecting(clauses: Mapping[str, Clause], found: Iterable[Named]) -> Mapping[str, Clause]:
    """The clauses that list one of these known bugs as one that they must reject."""
    names = {(about, x.name) for about, x in found}
    hits = {n: {(c.about, name) for name in c.catches} & names for n, c in clauses.items()}
    return {n: clauses[n] for n, caught in hits.items() if caught}
