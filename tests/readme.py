"""The table of clauses in README.md, from the clauses themselves: `python -m tests.readme`."""

from __future__ import annotations

from pathlib import Path

from spec import CLAUSES, SECTIONS
from spec.clause import Clause

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
BEGIN, END = "<!-- clauses: begin -->\n", "<!-- clauses: end -->"
SHORT = {"proved": "proved", "proved at sizes": "proved at sizes", "checked exactly": "exact"}


def row(clause: Clause) -> str:
    """One line of the table: number, sentence, evidence, how many mistakes it must reject."""
    grade = "checked" if clause.proof is None else SHORT[clause.proof.grade]
    soft = " *(should)*" if clause.force == "should" else ""
    claim = clause.sentence.replace("<", "&lt;")  # no tag to a reader of Markdown
    return f"| {clause.number} | {claim}{soft} | {grade} | {len(clause.catches)} |"


def table() -> str:
    """All clauses, section by section, each under the first sentence of its module."""
    lines = []
    for section in SECTIONS:
        found = [c for c in CLAUSES.values() if vars(section).get(c.name) is c]
        if not found:
            continue
        title = (section.__doc__ or "").splitlines()[0]
        lines += ["", f"**{title}**", "", "| | claim | evidence | rejects |", "|---|---|---|---|"]
        lines += [row(clause) for clause in found]
    return "\n".join(lines[1:]) + "\n"


def filled(text: str) -> str:
    """The README with its table as it should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
