"""The results that the ledger recorded for functions of other libraries: `targets.json`.

Each of them can be a target if its library is installed: it is in the library, or is an adapter of
this package. The file is written by `python -m tests.recorded`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from spec.backends import Unsuitable
from spec.certification.starting import COMMAND, NAME

FILE = Path(__file__).resolve().parents[2] / "targets.json"
CLASSES = FILE.parent / "adapters" / "classes.json"
WIDTH = 110  # characters, at most, that say in a note where a target is correct


@dataclass(frozen=True)
class Recorded:
    """An entry of the ledger.

    target: as a user names it; an adapter begins with the dot of a relative import. description:
    the name of one of this package, or "". options: the others of its certificate. library,
    version: of its distribution. verdict: in a few words. region: where it is correct, if it is not
    certified; "" if that is not known. kind: of target, as `--kind` has it.
    """

    target: str
    description: str
    options: str
    library: str
    version: str
    verdict: str
    region: str = ""
    kind: str = "attention"

    @property
    def place(self) -> str:
        """The target as `module:name`."""
        return f"{NAME}{self.target}" if self.target.startswith(".") else self.target

    @property
    def tested(self) -> str:
        """The options of the verdict, as an addition to it; "" without options."""
        return f" (tested with {self.options})" if self.options else ""

    @property
    def arguments(self) -> str:
        """The arguments of `certify`."""
        described = f"--description {self.description}" if self.description else ""
        return " ".join(filter(None, (self.place, described, self.options)))


@cache
def recorded() -> tuple[Recorded, ...]:
    """All entries of the ledger, by library."""
    return tuple(Recorded(**row) for row in json.loads(FILE.read_text(encoding="utf-8")))


def listed(words: Sequence[str]) -> str:
    """A table of entries, under a line for each library.

    words: a row must contain all of them, in any case. Raises Unsuitable if no row does.
    """
    wanted = [word.lower() for word in words]
    rows = [x for x in recorded() if all(word in _searched(x) for word in wanted)]
    if not rows:
        raise Unsuitable(f"no target has {' '.join(words)!r}: `attention-spec targets` lists all")
    return "\n".join(_lines(rows))


def note(target: str, description: str | None) -> str:
    """The recorded verdicts on a target in a line; "" if there are none.

    description: the one that it was tested with.
    """
    same = [x for x in recorded() if x.place == target]
    found = [x for x in same if x.description == (description or "")]
    if not found:
        return ""
    line = f"recorded in the ledger with {found[0].library} {found[0].version}: "
    return line + (_in_short(found[0]) if len(found) == 1 else _in_turn(found))


def _in_short(row: Recorded) -> str:
    """The verdict, its options, and where the target is correct if not always."""
    correct = f"; correct when {row.region}" if row.region else ""
    return f"{row.verdict}{row.tested}{correct if len(correct) <= WIDTH else ''}"


def _in_turn(rows: Sequence[Recorded]) -> str:
    """Verdicts on one target with their options, or with the command that lists these."""
    full = "; ".join(f"{x.verdict}{x.tested}" for x in rows)
    if len(full) <= 2 * WIDTH:
        return full
    verdicts = "; ".join(dict.fromkeys(x.verdict for x in rows))
    return f"{verdicts} (`{COMMAND} targets {rows[0].place}` lists the options of each)"


def description_for(target: str) -> str | None:
    """The description of this package that a target is always tested with; None if it has none."""
    names = {x.description for x in recorded() if x.place == target}
    return names.pop() or None if len(names) == 1 else None


@cache
def adapters() -> Mapping[str, str]:
    """The adapters of this package by the classes that they are for, `package:Class`."""
    found: dict[str, str] = json.loads(CLASSES.read_text(encoding="utf-8"))
    return found


def _searched(row: Recorded) -> str:
    adapted = " ".join(x for x, adapter in adapters().items() if adapter == row.target)
    words = (row.library, row.version, row.verdict, row.kind, row.arguments, adapted)
    return " ".join(words).lower()


def _lines(rows: Sequence[Recorded]) -> Iterator[str]:
    width, kinds = (max(len(getattr(x, name)) for x in rows) for name in ("verdict", "kind"))
    above = ""
    for row in rows:
        heading = f"{row.library} {row.version}"
        yield from [heading] * (heading != above)
        yield f"  {row.verdict:<{width}}  {row.kind:<{kinds}}  {row.arguments}"
        above = heading
