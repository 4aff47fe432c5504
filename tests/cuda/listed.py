"""What is judged on a GPU: the targets of a ledger."""

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from spec.backends import Unsuitable
from spec.certification.ledgers import Entry, entries
from tests.cuda import there_is_one

LEDGER = Path("implementations") / "ledger" / "devices" / "h200.toml"


def parser(program: str, about: str | None) -> ArgumentParser:
    """What a program is told that judges them."""
    asked = ArgumentParser(prog=program, description=about)
    asked.add_argument("--ledger", default=str(LEDGER), metavar="FILE.toml")
    asked.add_argument("--only", nargs="+", metavar="NAME", help="some of its targets")
    asked.add_argument("--jobs", type=int, default=4, help="that run at a time")
    asked.add_argument("--seconds", type=float, default=3600, help="for all of them")
    return asked


def listed(words: Namespace) -> Mapping[str, Entry]:
    """Those that are asked for, by name. Ends the program, in a line, where there are none."""
    try:
        found = {one.name: one for one in entries(words.ledger)}
    except Unsuitable as reason:
        ended(str(reason))
    if unknown := [name for name in words.only or () if name not in found]:
        ended(f"{words.ledger} has no {', '.join(unknown)}")
    return {name: one for name, one in found.items() if name in (words.only or found)}


def ended(why: str) -> NoReturn:
    """End a program that was asked for what there is not."""
    print(f"error: {why}", file=sys.stderr)
    raise SystemExit(2)


def runs(found: Mapping[str, Entry]) -> bool:
    """Whether they can be run here; if not, that is said."""
    return all(one.request.device == "cpu" for one in found.values()) or there_is_one()
