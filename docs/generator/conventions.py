"""A page for each convention: its choices, who has which, and how to declare it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from docs.generator.bugs import listing
from docs.generator.facts import ROOT, Facts
from docs.generator.naming import chapter, convention_path, judged_path
from docs.generator.options import answers
from docs.generator.writing import (
    Page,
    block,
    code,
    heading,
    joined,
    link,
    plain,
    prose,
    sentence,
    table,
)
from spec.attention.libraries import QUESTIONS
from spec.kinds import KINDS

ROW = re.compile(r"^\| `([\w-]+)` \| ((?:`[^`]+`(?:, )?)+): (.+) \|$", re.M)
ABOUT = (
    "Mathematics leaves some questions open. A convention is such a question with its choices. The "
    "tool assumes the first choice unless another one is declared, because every other choice is "
    "also a well-known bug."
)


@cache
def described() -> Mapping[str, str]:
    """By name, what docs/reference.md says about each convention."""
    text = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    found = text.partition("\n## Conventions\n")[2]
    return {name: words for name, _, words in ROW.findall(found)}


@cache
def choices() -> Mapping[str, Mapping[str, tuple[str, ...]]]:
    """By name and kind of target, the choices, the default first."""
    found: dict[str, dict[str, tuple[str, ...]]] = {}
    for about, kind in KINDS.items():
        for name, choice in kind.truth().choices.items():
            found.setdefault(name, {})[about] = choice
    found["rounding"] = {"attention": ("strict", "flash", "eager")}
    return found


def pages(facts: Facts) -> Iterator[Page]:
    """The list, and the conventions."""
    here = "conventions/index.md"
    cells = (
        (
            link(here, convention_path(name), code(name)),
            ", ".join(map(code, dict.fromkeys(x for found in kinds.values() for x in found))),
            prose(described().get(name, "")),
        )
        for name, kinds in choices().items()
    )
    body = joined("# Conventions", ABOUT, table(("convention", "choices", "meaning"), cells))
    yield Page(here, "Conventions", body, ABOUT)
    yield from (page(name, facts) for name in choices())


def page(name: str, facts: Facts) -> Page:
    """The page of a convention."""
    here, kinds, text = convention_path(name), choices()[name], described().get(name, "")
    of_kinds = (
        (chapter(about), code(found[0]), ", ".join(map(code, found[1:])))
        for about, found in kinds.items()
    )
    *others, last = dict.fromkeys(x for found in kinds.values() for x in found)
    answer = f"{', '.join(map(code, others))} or {code(last)}"  # search looks at headings first
    parts = [
        f"# Convention {code(name)}: {answer}",
        prose(sentence(text)),
        "## Choices",
        table(("kind of target", "default", "other choices"), of_kinds),
        *_declared(name, kinds),
        *_libraries(name, here),
        *_judged(name, facts, here),
        *_bugs(name, facts, here),
        link(here, "conventions/index.md", "All conventions"),
    ]
    return Page(here, f"Convention: {name}", joined(*parts), text, boost=6)


def _declared(name: str, kinds: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    if name == "rounding":  # it is found, and not declared
        return
    choice = next(iter(kinds.values()))[1]
    yield "## How to declare it"
    yield block(f"attention-spec certify FILE.py:NAME --convention {name}={choice}", "console")


def _libraries(name: str, here: str) -> Iterator[str]:
    """What libraries choose, as their sources say."""
    if name in QUESTIONS:
        yield "## Libraries"
        yield answers(QUESTIONS[name], here)


def _judged(name: str, facts: Facts, here: str) -> Iterator[str]:
    """The implementations that were tested with another choice than the default."""
    cells = [
        (
            link(here, judged_path(x), code(x.name)),
            plain(f"{x.library} {x.version}".strip()),
            code(f"{key}={choice}"),
        )
        for x in facts.judged
        for key, choice in x.certificate.conventions.items()
        if key.partition(" ")[0] == name and x.certificate.defaults.get(key, "strict") != choice
    ]
    if cells:
        yield heading(f"Implementations with another choice ({len(cells)})", indexed=False)
        yield table(("implementation", "library", "choice"), cells)


def _bugs(name: str, facts: Facts, here: str) -> Iterator[str]:
    """The known bugs that a declared choice makes correct."""
    found = [x for x in facts.bugs.values() if (x.mistake.convention or ("",))[0] == name]
    if found:
        yield heading("Known bugs that are correct under another choice", indexed=False)
        yield listing(found, here)
