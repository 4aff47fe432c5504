"""Measure how small a fault may be, and write the table (`tests.power`)."""

import argparse
import json
import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import tests.power
from tests.power.attention import KINDS, right, wrong
from tests.power.faults import FAMILIES
from tests.power.page import Figures, page
from tests.power.search import RULES, STRENGTHS, Rule, smallest

HERE = Path(__file__).parent
KEPT, PAGE = HERE / "figures.json", HERE / "README.md"


def kept() -> Figures:
    """The figures that are recorded."""
    return json.loads(KEPT.read_text()) if KEPT.exists() else {"smallest": {}, "right": {}}


def record(figures: Figures) -> None:
    """Write the figures, and the page that shows them."""
    KEPT.write_text(json.dumps(figures, indent=1) + "\n")
    PAGE.write_text(page(figures))


def measure(families: Sequence[str], again: bool) -> None:
    """Measure and record; what is recorded already is left as it is, unless `again`."""
    figures = kept()
    asked = [("right", kind) for kind in KINDS] + [("smallest", name) for name in families]
    for (column, rule), (table, name) in product(RULES.items(), asked):
        row = figures[table].setdefault(name, {})
        if again or column not in row:
            row[column] = (_smallest if table == "smallest" else _refused)(name, rule)
            print(f"{name}: {column}: {row[column]}", flush=True)
            record(figures)


def _smallest(name: str, rule: Rule) -> float | None:
    """The smallest strength that is refused; 0 if what has no fault is refused as well."""

    def refuses(strength: float) -> bool:
        return rule.refuses(wrong(name, strength), FAMILIES[name].option)

    found = smallest(refuses)
    return 0.0 if found == STRENGTHS[-1] and refuses(0.0) else found


def _refused(kind: str, rule: Rule) -> str:
    """How many options there are with which the right function is refused."""
    found = [rule.refuses(right(kind, rule.dtype), option) for option in rule.options]
    return f"{sum(found)} of {len(found)}"


def main() -> int:
    """Measure the families that are named, or all, and write the figures and the page."""
    parser = argparse.ArgumentParser("python -m tests.power", description=tests.power.__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=", ".join(FAMILIES))
    parser.add_argument("--again", action="store_true", help="also what is recorded")
    asked = parser.parse_args()
    if unknown := [name for name in asked.families if name not in FAMILIES]:
        parser.error(f"no such family: {', '.join(unknown)}")
    measure(asked.families or [*FAMILIES], asked.again)
    return 0


if __name__ == "__main__":
    sys.exit(main())
