"""The specification as text: a table of all clauses, or one clause, whole."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping

from spec.clause import Clause
from spec.kinds import kind_of


def table(clauses: Mapping[str, Clause]) -> str:
    """Number, name, sentence, evidence and force of every clause."""
    return "\n".join(_row(clause) for clause in clauses.values())


def whole(clause: Clause) -> str:
    """One clause with its formula, its reasons, what it needs and what it catches."""
    title = f"{clause.number} {clause.name}"
    facts = [
        f"about     {kind_of(clause.about).noun}",
        f"force     {clause.force}",
        f"evidence  {clause.evidence}",
        f"needs     {', '.join(sorted(clause.needs)) or 'nothing'}",
        *_filled("catches   ", ", ".join(sorted(clause.catches)) or "nothing by name"),
        f"source    {clause.check.__module__}",
    ]
    return "\n".join([title, "-" * len(title), "", clause.text, "", *facts])


def _row(clause: Clause) -> str:
    soft = "should, " if clause.force == "should" else ""
    sentence = f"{clause.sentence} [{soft}{clause.evidence}]"
    head = f"{clause.number:<5}{clause.name}"
    return "\n".join([head, *_filled("     ", sentence)])


def _filled(head: str, text: str) -> list[str]:
    indent = " " * len(head)
    return textwrap.wrap(text, 96, initial_indent=head, subsequent_indent=indent)
