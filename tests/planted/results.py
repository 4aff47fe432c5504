"""What became of each fault: kept as JSON after each one, and shown as a table in Markdown."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

CAUGHT = "caught"
HEAD = ("fault", "area", "result", "first failing test", "seconds")


class Another(Exception):
    """A file holds the results of another test command."""


@dataclass(frozen=True)
class Result:
    """What became of a fault. test: the first that failed. said: why, where it is not plain."""

    name: str
    area: str
    result: str
    test: str
    seconds: float
    said: str = ""


class Results:
    """The results of one test command by the names of faults, kept in a file if there is one."""

    def __init__(self, command: Sequence[str], file: Path | None) -> None:
        self.command, self.file = [*command], file
        self.found: dict[str, Result] = {}
        if file is not None and file.exists():
            written = json.loads(file.read_text(encoding="utf-8"))
            if written["command"] != self.command:
                raise Another(f"{file} holds results of {' '.join(written['command'])}")
            self.found = {entry["name"]: Result(**entry) for entry in written["faults"]}

    def add(self, result: Result) -> None:
        """One more, which is written down at once, whole or not at all."""
        self.found[result.name] = result
        if self.file is not None:
            entries = [asdict(x) for x in self.found.values()]
            text = json.dumps({"command": self.command, "faults": entries}, indent=1)
            part = self.file.with_name(f"{self.file.name}.part")
            part.write_text(f"{text}\n", encoding="utf-8")
            os.replace(part, self.file)

    def table(self, names: Sequence[str]) -> str:
        """Those of some faults in Markdown, and how many there are of each result."""
        found = [self.found[name] for name in names if name in self.found]
        count = Counter(x.result for x in found)
        counted = ", ".join(f"{n} {result}" for result, n in count.most_common())
        return "\n".join([*_lines(found), "", f"{len(found)} planted: {counted}"])


def _lines(found: Sequence[Result]) -> Iterator[str]:
    yield f"| {' | '.join(HEAD)} |"
    yield "|---|---|---|---|---:|"
    for x in found:
        test = f"`{x.test}`".replace("|", "\\|") if x.test else ""
        yield f"| {x.name} | {x.area} | {x.result} | {test} | {x.seconds:.0f} |"
