"""The table of clauses in README.md, from the clauses themselves: `python -m tests.readme`."""

from __future__ import annotations

from pathlib import Path

import spec
from spec import SECTIONS
from spec.clause import Clause
from spec.kinds import KINDS

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


def sections(about: str) -> list[str]:
    """The clauses about one kind of subject, each section under the first line of its module."""
    lines: list[str] = []
    for section in SECTIONS:
        found = [c for c in vars(section).values() if isinstance(c, Clause) and c.about == about]
        if not found:
            continue
        found.sort(key=lambda clause: int(clause.number[len(clause.section) :]))
        title = (section.__doc__ or "").splitlines()[0]
        lines += ["", f"**{title}**", "", "| | claim | evidence | rejects |", "|---|---|---|---|"]
        lines += [row(clause) for clause in found]
    return lines


def spans(numbers: list[int], letter: str) -> str:
    """Numbers that run without a gap by their ends: R1 to R13, R41."""
    starts = [n for n in numbers if n - 1 not in numbers]
    stops = [n for n in numbers if n + 1 not in numbers]
    pairs = zip(starts, stops, strict=True)
    return ", ".join(f"{letter}{a}" if a == b else f"{letter}{a} to {letter}{b}" for a, b in pairs)


def folded(about: str) -> list[str]:
    """The same, behind a line that a reader may open."""
    clauses = list(spec.about(about).values())
    what = f"{KINDS[about].noun[0].upper()}{KINDS[about].noun[1:]}"
    numbers = spans([int(clause.number[1:]) for clause in clauses], clauses[0].section)
    summary = f"<summary>{what}: {len(clauses)} clauses, {numbers}</summary>"
    return ["", "<details>", summary, *sections(about), "", "</details>"]


def table() -> str:
    """All clauses: about attention in the open, about all else behind a line each."""
    kinds = [about for about in KINDS if about != "attention"]
    lines = [*sections("attention"), *(line for about in kinds for line in folded(about))]
    return "\n".join(lines[1:]) + "\n"


def filled(text: str) -> str:
    """The README with its table as it should be."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}{table()}{END}{after}"


if __name__ == "__main__":
    README.write_text(filled(README.read_text()))
