"""A page for each option of attention: what it means, what libraries call it, and its clauses."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping

from docs.generator.clauses import rows
from docs.generator.facts import Facts
from docs.generator.naming import convention_path, option_path
from docs.generator.problem import described
from docs.generator.writing import (
    Page,
    capital,
    code,
    joined,
    link,
    listed,
    outside,
    plain,
    prose,
    sentence,
    table,
)
from docs.generator.writing import heading as header
from spec.attention import definition
from spec.attention.conventions import CONVENTIONS
from spec.attention.deployed import LIBRARIES
from spec.attention.libraries import OPTIONS, QUESTIONS, Option, Question
from spec.attention.options import OPTIONS as ROWS
from spec.attention.options import PARAMETERS, Capability

ABOUT = (
    "The options that kernels, frameworks and servers add to attention. Each one changes a term of "
    "the definition, so options can be combined."
)
MORE = (  # parameters of a target that are no option of `spec.attention.libraries`
    ("mask", "Mask"),
    ("scale", "Scale"),
    ("grouped", "Grouped heads"),
)
NEEDED = {  # options that are no parameter
    "lse": ("returns the log-sum-exp", "has gradients through the log-sum-exp"),
    "block_table": (Capability.PAGES,),
}


def pages(facts: Facts) -> Iterator[Page]:
    """The list, and the options."""
    here = "options/index.md"
    cells = (
        (link(here, option_path(name), capital(name)), prose(sentence(option.text)))
        for name, option in every().items()
    )
    body = joined(
        "# Options",
        ABOUT,
        table(("option", "meaning"), cells),
        header("Names in libraries", indexed=False),
        "A dash means that the library has no such option, or that none was found.",
        _names(),
        header("Sources", indexed=False),
        "The names and answers come from these files, at these commits.",
        listed(_sources()),
    )
    yield Page(here, "Options", body, ABOUT)
    yield from (page(name, option, facts) for name, option in every().items())


def every() -> Mapping[str, Option]:
    """The options, by name: those of libraries, and those that every library has."""
    words = {"grouped": definition_of("key heads"), **dict(described())}
    by_name = {x.name: x for x in PARAMETERS}
    more = ((title, by_name[name], words[name]) for name, title in MORE)
    usual = {t: Option(t, x.spellings[0], text) for t, x, text in more}
    return {**usual, **OPTIONS}


def definition_of(words: str) -> str:
    """The sentence of the definition that has some words."""
    sentences = re.split(r"(?<=\.)\n", inspect.cleandoc(definition.__doc__ or ""))
    return next(" ".join(x.split()) for x in sentences if words in x)


def _names() -> str:
    """What each library calls each option."""
    head = ("library", *OPTIONS)
    cells = (
        (plain(x.name), *(code(x.called[o]) if o in x.called else "–" for o in OPTIONS))
        for x in LIBRARIES
    )
    return table(head, cells)


def _sources() -> Iterator[str]:
    for library in LIBRARIES:
        for source in library.sources:
            files = ", ".join(outside(source.url(path), plain(path)) for path in source.paths)
            where = f"{plain(source.repository)} at {source.commit[:8]}"
            yield f"{plain(library.name)}: {where}: {files}"


def page(name: str, option: Option, facts: Facts) -> Page:
    """The page of an option."""
    here = option_path(name)
    called = [(plain(x.name), code(x.called[name])) for x in LIBRARIES if name in x.called]
    questions = [x for x in QUESTIONS.values() if x.about == name]
    needed = capabilities(option)
    clauses = [c for c in facts.clauses.values() if c.about == "attention" and c.needs & needed]
    parts = [f"# Option: {prose(name)}", prose(sentence(option.text)), _parameters(option)]
    if questions:
        parts += ["## What libraries do differently", _questions(questions, here)]
    if called:
        parts += ["## Names in libraries", table(("library", "name"), called)]
    if clauses:
        title = header(f"Clauses that need it ({len(clauses)})", indexed=False)
        parts += [title, rows(clauses, facts, here)]
    parts.append(link(here, "options/index.md", "All options"))
    return Page(here, f"Option: {name}", joined(*parts), option.text, boost=6)


def capabilities(option: Option) -> frozenset[str]:
    """The capabilities that a clause about an option needs."""
    if option.word in NEEDED:
        return frozenset(NEEDED[option.word])
    ours = [x for x in PARAMETERS if option.word in x.spellings]
    return frozenset(row.capability for row in ROWS if {*row.parameters} & {*ours})


def _parameters(option: Option) -> str:
    """The names by which a parameter is recognised."""
    found = [x for x in PARAMETERS if option.word in x.spellings]
    names = ", ".join(code(name) for x in found for name in x.spellings)
    return f"A parameter of a target is recognised by one of these names: {names}." if names else ""


def _questions(questions: list[Question], here: str) -> str:
    """Each question with the libraries that give each answer."""
    return joined(*(f"### {prose(capital(x.text))}\n\n{answers(x, here)}" for x in questions))


def answers(question: Question, here: str) -> str:
    """The answers of libraries to a question, and the convention for it."""
    cells = []
    for choice in question.choices:
        having = [x.name for x in LIBRARIES if choice in x.says.get(question.name, ())]
        cells.append((prose(choice), plain(", ".join(having)) or "–"))
    found = table(("answer", "libraries"), cells)
    if question.name in CONVENTIONS and here != convention_path(question.name):
        to = link(here, convention_path(question.name), code(question.name))
        return joined(found, f"A target declares its choice by the convention {to}.")
    return found
