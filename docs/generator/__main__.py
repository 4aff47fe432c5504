"""Build the site: `python -m docs.generator`."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from docs.generator import tree
from docs.generator.facts import ROOT, facts
from docs.generator.html import html

BUILD = ROOT / "build"


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the pages and build the site. Returns 1 if MkDocs warns about something."""
    parser = argparse.ArgumentParser(prog="python -m docs.generator", description=__doc__)
    parser.add_argument(
        "--site", type=Path, default=BUILD / "site", help="folder of the site (build/site)"
    )
    parser.add_argument(
        "--pages", type=Path, default=BUILD / "pages", help="folder of its Markdown (build/pages)"
    )
    asked = parser.parse_args(arguments)
    start = time.monotonic()
    known = facts()
    found = list(tree.pages(known))
    tree.write(found, asked.pages)
    written = time.monotonic()
    warned = html(asked.pages, asked.site, tree.menu(known))
    size = sum(x.stat().st_size for x in asked.site.rglob("*") if x.is_file()) / 1e6
    print(
        f"{len(found)} pages in {time.monotonic() - start:.0f} s ({written - start:.0f} s for "
        f"Markdown), {size:.0f} MB: {asked.site / 'index.html'}"
    )
    return 1 if warned else 0


if __name__ == "__main__":
    sys.exit(main())
