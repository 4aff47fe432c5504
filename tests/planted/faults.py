"""The faults as they are written down, and how each is planted."""

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
FOLDER = Path(__file__).parent / "faults"


class Stale(Exception):
    """A fault does not fit the tree any more."""


@dataclass(frozen=True)
class Fault:
    """A change of one to five lines in one file.

    area: the name of the file that describes it. file: the file it changes, from the root.
    before: a text that occurs once in it, which `after` replaces. why: what a user would suffer.
    first: test files that most likely catch it, which are run before all others.
    """

    name: str
    area: str
    file: str
    before: str
    after: str
    why: str
    first: list[str] = field(default_factory=list)

    def planted(self, root: Path) -> str:
        """The text of the changed file. Raises Stale where `before` does not occur once."""
        path = root / self.file
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if (count := text.count(self.before)) != 1:
            raise Stale(f"{self.name}: {count} times in {self.file}: {self.before.strip()!r}")
        return text.replace(self.before, self.after)


def faults() -> list[Fault]:
    """All faults, area by area."""
    return [fault for path in sorted(FOLDER.glob("*.toml")) for fault in _of_area(path)]


def _of_area(path: Path) -> Iterator[Fault]:
    written = tomllib.loads(path.read_text(encoding="utf-8"))
    return (Fault(area=path.stem, **entry) for entry in written["fault"])


def stale(some: Iterable[Fault], root: Path = ROOT) -> list[str]:
    """A line for each fault that cannot be planted."""
    lines = []
    for fault in some:
        try:
            fault.planted(root)
        except Stale as reason:
            lines.append(str(reason))
    return lines
