"""The lines of mistakes in spec/incidents.md, from the catalogues: `python -m tests.incidents`."""

import re
from pathlib import Path

from spec.kinds import KINDS

ROOT = Path(__file__).parent.parent
INCIDENTS = ROOT / "spec" / "incidents.md"
ENTRY = re.compile(r'^### <a id="(\w+)"></a>\1 (.+?)^- Mistakes:(.*?)$', re.M | re.S)


def entries(text: str) -> dict[str, tuple[str, str]]:
    """What is written about each class, and its line of mistakes."""
    return {name: (words, mistakes.strip()) for name, words, mistakes in ENTRY.findall(text)}


def mistakes(name: str) -> str:
    """The mistakes that name a class, by the kind of subject that they spoil; empty without any."""
    found = {
        about: [f"`{x.name}`" for x in kind.mistakes.values() if x.incident == name]
        for about, kind in KINDS.items()
    }
    return "; ".join(f"{about} {', '.join(names)}" for about, names in found.items() if names)


def filled(text: str) -> str:
    """The file with its mistakes as they should be; why there are none is written by hand."""

    def entry(match: re.Match[str]) -> str:
        name, _, written = match.groups()
        carried = f" {mistakes(name)}" if mistakes(name) else written
        return match[0].removesuffix(written) + carried

    return ENTRY.sub(entry, text)


if __name__ == "__main__":
    INCIDENTS.write_text(filled(INCIDENTS.read_text()))
