"""Markdown made into HTML, by MkDocs with the theme Material. Nothing is loaded from elsewhere."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from docs.generator.facts import ROOT

BLANK = re.compile(r"\n\s+")
CELL = re.compile(r"<td\b")
CODE = re.compile(r"<code>[^<]*</code>")
HEAD = re.compile(r"<th\b[^>]*>(.*?)</th>", re.S)
KEPT = re.compile(r"(<(pre|textarea|script)\b.*?</\2>)", re.S)
ROW = re.compile(r"<tr>.*?</tr>", re.S)
SETTINGS = ROOT / "mkdocs.yml"
TABLE = re.compile(r"<table>.*?</table>", re.S)
TAG = re.compile(r"<[^>]*>")


class Counted(logging.Handler):
    """Counts what MkDocs warns about, and prints it."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.number = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Print a warning."""
        self.number += 1
        print(f"warning: {record.getMessage()}", flush=True)


def html(pages: Path, site: Path, menu: list[Any]) -> int:
    """Build the site from a folder of Markdown. Returns the number of warnings."""
    from mkdocs.commands.build import build
    from mkdocs.config import load_config

    counted = Counted()
    logging.getLogger("mkdocs").addHandler(counted)
    try:
        asked: dict[str, Any] = {"docs_dir": str(pages), "site_dir": str(site), "nav": menu}
        config = load_config(str(SETTINGS), **asked)
        config.plugins.on_startup(command="build", dirty=False)
        build(config)
        config.plugins.on_shutdown()
        for file in site.rglob("*.html"):
            file.write_text(shortened(file.read_text(encoding="utf-8")), encoding="utf-8")
    finally:
        logging.getLogger("mkdocs").removeHandler(counted)
    return counted.number


def shortened(text: str) -> str:
    """HTML without the empty lines and the indentation that templates leave, as `fitting`."""
    parts = KEPT.split(text)
    return "".join(
        x if n % 3 == 1 else fitting(BLANK.sub("\n", x)) for n, x in enumerate(parts) if n % 3 != 2
    )


def fitting(text: str) -> str:
    """HTML that fits a phone: names may break at underscores, and cells have labels."""
    text = CODE.sub(lambda x: x[0].replace("_", "_<wbr>"), text)
    return TABLE.sub(lambda x: _labelled(x[0]), text)


def _labelled(table: str) -> str:
    """A table of three to five columns, in which each cell but the first has its column's head.

    On a phone, the cells of a small table stand below each other, and its head is not shown.
    """
    heads = [TAG.sub("", x).strip().replace('"', "&quot;") for x in HEAD.findall(table)]
    if not 3 <= len(heads) <= 5:
        return table
    labels = ["", *(f' data-label="{x}"' if x else "" for x in heads[1:])]
    return ROW.sub(lambda row: _with(row[0], labels), table)


def _with(row: str, labels: list[str]) -> str:
    """A row of a table whose cells have these labels."""
    left = iter(labels)
    return CELL.sub(lambda x: f"{x[0]}{next(left, '')}", row)
