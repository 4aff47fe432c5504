"""The specification as text: a table of all clauses, one clause whole, or a page of Markdown."""

import inspect
import textwrap
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path

from spec.backends import Unsuitable
from spec.certification.settings import selected
from spec.clause import Clause
from spec.kinds import KINDS, kind_of
from spec.version import CURRENT

SHORT = {"proved": "proved", "proved at sizes": "proved at sizes", "checked exactly": "exact"}
PAGE = """\
# The clauses

{count} clauses about {kinds} kinds of subject, version {version} of the specification. Each number
leads to the clause: its formula, its reason and its check. Written by `python -m spec clauses
--markdown`.

*Evidence*: **proved** for any number of keys (sympy, with a control that fails), **proved at
sizes** that the proof states, **exact**: the definition itself run in rational arithmetic with
equality, **checked**: by running. *Rejects*: how many known mistakes the clause is made to refuse.
"""


def table(clauses: Mapping[str, Clause]) -> str:
    """Number, name, sentence, force, versions where they matter, and evidence of every clause."""
    return "\n".join(_row(clause) for clause in clauses.values())


def whole(clause: Clause) -> str:
    """One clause with its formula, its reasons, what it needs and what it catches."""
    title = f"{clause.number} {clause.name}"
    facts = [
        f"about     {kind_of(clause.about).noun}",
        f"force     {clause.force}",
        *[f"versions  {clause.span}"] * bool(clause.span),
        f"evidence  {clause.evidence}",
        f"needs     {', '.join(sorted(clause.needs)) or 'nothing'}",
        *_filled("catches   ", ", ".join(sorted(clause.catches)) or "nothing by name"),
        f"source    {clause.check.__module__}",
    ]
    return "\n".join([title, "-" * len(title), "", clause.text, "", *facts])


def found(clauses: Mapping[str, Clause], words: str) -> str:
    """The clauses that some words name, in full; else a table of those whose text has them all.

    words: a number, a name, the letter of a section, or words of titles and headings.
    Raises Unsuitable where there is none.
    """
    try:
        return "\n\n".join(whole(clause) for clause in selected(clauses, (words,)))
    except Unsuitable:
        wanted = [word.rstrip("s") for word in words.lower().replace("_", " ").split()]
        hits = {n: x for n, x in clauses.items() if all(w in _searched(x) for w in wanted)}
        if not hits:
            raise
        return table(hits)


def _searched(clause: Clause) -> str:
    """The text in which words are searched: number, name, claim and the heading of the section."""
    heading = (import_module(clause.check.__module__).__doc__ or "").partition("\n")[0]
    told = (clause.number, clause.name.replace("_", " "), clause.sentence, heading)
    return " ".join(told).lower()


def markdown(clauses: Mapping[str, Clause]) -> str:
    """A page for the folder `spec`: the clauses by kind and section, each with a link to it."""
    lines = [PAGE.format(count=len(clauses), kinds=len(KINDS), version=CURRENT)]
    for about, kind in KINDS.items():
        sections: dict[str, list[Clause]] = {}
        for clause in clauses.values():
            if clause.about == about:
                sections.setdefault(clause.check.__module__, []).append(clause)
        lines += ["", f"## {kind.noun[0].upper()}{kind.noun[1:]}"]
        for module, found in sections.items():
            lines += ["", *_section(module, found)]
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def _section(module: str, clauses: list[Clause]) -> Iterator[str]:
    """The clauses of one module, in a row, under its first line."""
    yield f"**{(import_module(module).__doc__ or '').splitlines()[0]}**"
    yield from ("", "| | claim | evidence | rejects |", "|---|---|---|---|")
    for clause in clauses:
        grade = "checked" if clause.proof is None else SHORT[clause.proof.grade]
        words = _words(clause)[:-1]
        soft = f" *({', '.join(words)})*" if words else ""
        claim = clause.sentence.replace("<", "&lt;")  # no tag to a reader of Markdown
        number = f"[{clause.number}]({_place(clause)})"
        yield f"| {number} | {claim}{soft} | {grade} | {len(clause.catches)} |"


def _place(clause: Clause) -> str:
    """Where a clause stands, as a link from the folder `spec`."""
    path = Path(inspect.getsourcefile(clause.check) or "").resolve()
    line = inspect.getsourcelines(clause.check)[1]
    return f"{path.relative_to(Path(__file__).resolve().parents[1]).as_posix()}#L{line}"


def _row(clause: Clause) -> str:
    sentence = f"{clause.sentence} [{', '.join(_words(clause))}]"
    head = f"{clause.number:<5}{clause.name}"
    return "\n".join([head, *_filled("     ", sentence)])


def _words(clause: Clause) -> list[str]:
    """The force and versions of a clause where they are unusual, and its evidence."""
    soft = "should" if clause.force == "should" else ""
    return [word for word in (soft, clause.span) if word] + [clause.evidence]


def _filled(head: str, text: str) -> list[str]:
    indent = " " * len(head)
    return textwrap.wrap(text, 96, initial_indent=head, subsequent_indent=indent)
