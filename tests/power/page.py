"""The page of figures: how small a fault is still refused, by format, family and rule."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.power.faults import FAMILIES

TITLE = """\
# The smallest faults that are refused

Each family below is attention in torch, right but for one step that is wrong by s. A number is the
smallest s among 1, 0.5, 0.2, 0.1 … 10⁻⁷ that is refused. "none" means that not even s = 1 is, and
"right" that the function without the fault is refused as well. A small number is worth something
only if right functions are not refused: see the last table.

`quick` is the profile of `attention-spec certify`, with seed 0, for a function that has all options
of the families; "strict" is `--convention rounding=strict`, for a function that rounds once. The
other rules are in use elsewhere (`rivals.py`); they test one problem of B = 2, H = 4, N = M = 128,
D = 64 against the definition in float64, with the options that a family needs.
"""
RIGHT = """\
## Right functions that are refused

The same formula without a fault, with what is stored in the format of the inputs, for the five
problems of the families (no option, an additive mask, a cap, slopes, sinks):
"""
Figures = dict[str, dict[str, dict[str, Any]]]  # table -> row -> "format: rule" -> figure


def page(figures: Figures) -> str:
    """The page. figures: "smallest" by families, and "right" by what is stored."""
    smallest, right = figures["smallest"], figures["right"]
    columns = list(dict.fromkeys(column for row in right.values() for column in row))
    formats = dict.fromkeys(column.partition(": ")[0] for column in columns)
    parts = [_of(name, smallest, columns) for name in formats]
    stored = [_line(["rule", *right]), _rule(1 + len(right))]
    stored += [
        _line([name, *(row[name] for row in right.values() if name in row)]) for name in columns
    ]
    return "\n".join([TITLE, *parts, RIGHT, *stored, ""])


def _of(dtype: str, smallest: Mapping[str, Mapping[str, Any]], columns: list[str]) -> str:
    rules = [column for column in columns if column.startswith(f"{dtype}: ")]
    heads = [column.partition(": ")[2] for column in rules]
    lines = [f"## {dtype}", "", _line(["what is wrong", *heads]), _rule(1 + len(heads))]
    for name, family in FAMILIES.items():
        if name in smallest:
            cells = (_number(smallest[name][column]) for column in rules)
            lines.append(_line([family.words, *cells]))
    return "\n".join([*lines, ""])


def _number(x: float | None) -> str:
    return "none" if x is None else "right" if x == 0 else f"{x:g}"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _rule(count: int) -> str:
    return "|---" * count + "|"
