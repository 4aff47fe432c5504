"""The figures of the README, kept as data: what, measured when and where, and what was promised.

python -m tests.bench.figures        writes the tables anew: there what is `shown`, here all
"""

import datetime
import json
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tests.bench.measured import Measured

ROOT = Path(__file__).parents[2]
HERE = Path(__file__).parent
KEPT, README, PAGE = HERE / "figures.json", ROOT / "README.md", HERE / "README.md"
TITLE = "## Figures\n\n"
HEADING = """\
# Figures

A promise is the largest accepted value, or the smallest if it says "at least". A row with a worse
measured value breaks its promise.

"""
HEAD = "| | measured | promised | on |\n|---|---|---|---|\n"
Row = dict[str, Any]


def here() -> str:
    """The machine and what runs on it, in words."""
    cores, chip = len(os.sched_getaffinity(0)), platform.machine().replace("_", "-")
    there = [name for name in ("numpy", "torch", "jax") if find_spec(name)]
    versions = ", ".join(f"{name} {version(name).split('+')[0]}" for name in there)
    return f"{cores} cores ({chip}), Python {platform.python_version()}, {versions}"


def kept() -> list[Row]:
    """The rows that are kept."""
    found: list[Row] = json.loads(KEPT.read_text())
    return found


def record(figures: Iterable[Measured]) -> None:
    """Keep figures in the place of those of the same words, and behind the others."""
    rows = {row["what"]: row for row in kept()}
    today = datetime.date.today().isoformat()
    for figure in figures:
        told = {"measured": figure.measured, "promised": figure.promised, "on": today}
        known = rows.get(figure.what, {"what": figure.what, "shown": False})
        rows[figure.what] = {**known, **told, "where": here()}
    KEPT.write_text(json.dumps([*rows.values()], indent=1, ensure_ascii=False) + "\n")


def table(rows: Sequence[Row]) -> str:
    """The rows as a table, and below it the machines."""
    cells = ([row[name] for name in ("what", "measured", "promised", "on")] for row in rows)
    lines = "".join(f"| {' | '.join(cell)} |\n" for cell in cells)
    machines = "; ".join(dict.fromkeys(row["where"] for row in rows))
    return (
        f"{HEAD}{lines}\nMeasured on {machines}, by `python -m tests.bench --record`, "
        "`tests.faults`, `tests.seeds`, `tox`"
    )


def pages() -> Mapping[Path, str]:
    """The pages with figures, as they should be."""
    before, title, _ = README.read_text().partition(TITLE)
    shown = table([row for row in kept() if row["shown"]])
    link = f"; more in [`tests/bench`]({PAGE.relative_to(ROOT)})."
    more = f"{link} A promise is broken if the measured value is worse.\n"
    return {README: f"{before}{title}{shown}{more}", PAGE: f"{HEADING}{table(kept())}.\n"}


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text)
    sys.exit(0)
