"""The known bugs in spec/incidents.md, from the catalogues: `python -m tests.incidents`."""

import re
from pathlib import Path

from spec.kinds import KINDS

ROOT = Path(__file__).parent.parent
INCIDENTS = ROOT / "spec" / "incidents.md"
ENTRY = re.compile(r'^### <a id="([\w-]+)"></a>\1:? (.+?)^- Known bugs:(.*?)$', re.M | re.S)


def entries(text: str) -> dict[str, tuple[str, str]]:
    """Return the description of each class or published system, and its list of known bugs."""
    return {name: (words, mistakes.strip()) for name, words, mistakes in ENTRY.findall(text)}


def mistakes(name: str) -> str:
    """Return the known bugs of a class, grouped by kind of target; empty if there are none."""
    found = {
        about: [f"`{x.name}`" for x in kind.mistakes.values() if x.incident == name]
        for about, kind in KINDS.items()
    }
    return "; ".join(f"{about} {', '.join(names)}" for about, names in found.items() if names)


def filled(text: str) -> str:
    """Return the file with its lists of known bugs up to date.

    A class without known bugs keeps the reason that is written there by hand.
    """

    def entry(match: re.Match[str]) -> str:
        name, _, written = match.groups()
        carried = f" {mistakes(name)}" if mistakes(name) else written
        return match[0].removesuffix(written) + carried

    return ENTRY.sub(entry, text)


if __name__ == "__main__":
    INCIDENTS.write_text(filled(INCIDENTS.read_text()))
