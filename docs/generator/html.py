"""Markdown made into HTML, by MkDocs with the theme Material. Nothing is loaded from elsewhere."""

from __future__ import annotations

import logging
import re
from pathlib import Path
from typing import Any

from docs.generator.facts import ROOT

BLANK = re.compile(r"\n\s+")
KEPT = re.compile(r"(<(pre|textarea|script)\b.*?</\2>)", re.S)
SETTINGS = ROOT / "mkdocs.yml"


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
    """HTML without the empty lines and the indentation that templates leave."""
    parts = KEPT.split(text)
    return "".join(
        x if n % 3 == 1 else BLANK.sub("\n", x) for n, x in enumerate(parts) if n % 3 != 2
    )
