"""The first page: the definition, and where everything else is."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

from docs.generator.facts import Facts, letters
from docs.generator.naming import chapter, section_path, section_word
from docs.generator.problem import described, text
from docs.generator.sections import heading
from docs.generator.writing import (
    Page,
    block,
    capital,
    counted,
    joined,
    link,
    mathematics,
    prose,
    table,
)
from docs.generator.writing import facts as told
from spec.attention import definition
from spec.kinds import KINDS

HERE = "index.md"
LABEL = re.compile(r"^([A-Z][\w -]{2,20}): ")
SIZES = (
    "B sequences of a batch, H query heads, G key heads, N queries, M keys, head size D of queries "
    "and keys, head size E of values. The query of row i is q_i, the key and the value of row j "
    "are k_j and v_j."
)


def pages(facts: Facts) -> Iterator[Page]:
    """The first page."""
    first, *rest = inspect.cleandoc(definition.__doc__ or "").split("\n\n")
    body = joined(
        "# Multi-head attention, specified",
        _lead(facts),
        "## The definition",
        prose(f"{first} {SIZES}"),
        *map(_paragraph, rest),
        "## The definition as code",
        "The functions that the clauses compare with. They are written to be read, in NumPy.",
        _code(),
        "## A problem",
        "All that one call of an attention function gets:",
        prose(text()),
        told((prose(names), prose(words)) for names, words in described()),
        "## The sections",
        _sections(facts),
    )
    words = "The executable specification of multi-head attention: definition, clauses, bugs."
    yield Page(HERE, "The definition of attention", body, words, boost=2)


def _lead(facts: Facts) -> str:
    """What this is, with links to its main parts."""
    clauses = link(HERE, "clauses/index.md", counted(len(facts.clauses), "clause"))
    bugs = link(HERE, "bugs/index.md", counted(len(facts.bugs), "known bug"))
    judged = counted(len(facts.judged), "implementation")
    libraries = link(HERE, "implementations/index.md", judged)
    start = link(HERE, "guides/start.md", "Check your code")
    return (
        f"An executable specification: {clauses} state what attention is. Each one has a claim, a "
        f"formula, a reason, and a check that runs on your code. They reject {bugs}, many of which "
        f"were reported in public, and were run on {libraries} of public libraries.\n\n"
        f"{start}{{ .md-button .md-button--primary }}"
    )


def _paragraph(text: str) -> str:
    """A paragraph of the definition: a formula, a list of sentences, or text."""
    lines = text.splitlines()
    if all(line.startswith("    ") for line in lines):
        return mathematics("\n".join(line.strip() for line in lines))
    title = "## The gradients\n\n" if text.startswith("The gradients") else ""
    items = re.split(r"(?<=\.)\n", text)
    if len(items) < 4:
        return title + prose(text)
    return title + "\n".join(map(_item, items))


def _item(text: str) -> str:
    """An item of a list; the word before a colon is bold."""
    label = LABEL.match(text)
    if label is None:
        return f"* {prose(text)}"
    return f"* **{prose(label[1])}.** {prose(capital(text[label.end() :]))}"


def _code() -> str:
    """The definition of output and log-sum-exp, function by function."""
    names = ("scale", "products", "capped", "scores", "softmax", "weights", "lse", "attention")
    return block(
        "\n\n".join(inspect.getsource(getattr(definition, name)).rstrip() for name in names),
        "python",
    )


def _sections(facts: Facts) -> str:
    """A row for each section."""
    cells = []
    for letter, modules in letters(facts.clauses).items():
        ours = [c for c in facts.clauses.values() if c.section == letter]
        kinds = dict.fromkeys(chapter(c.about) for c in ours)
        first = heading((modules[0].__doc__ or "").partition("\n")[0])
        words = f"{letter} {section_word(letter)}"
        cells.append(
            (
                link(HERE, section_path(letter), prose(capital(words))),
                prose(first),
                ", ".join(kinds),
                str(len(ours)),
            )
        )
    count = f"There are {len(KINDS)} kinds of target."
    return joined(count, table(("section", "claim", "kind of target", "clauses"), cells))
