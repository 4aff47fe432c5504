"""The pages that people wrote: the same files, with links that lead to pages of the site."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from os.path import normpath, relpath
from pathlib import PurePosixPath

from docs.generator.facts import ROOT, SOURCE
from docs.generator.writing import Page

GUIDES = {  # the files, and their pages
    "README.md": "guides/start.md",
    "docs/function.md": "guides/function.md",
    "docs/layer.md": "guides/layer.md",
    "docs/cache.md": "guides/cache.md",
    "docs/languages.md": "guides/languages.md",
    "docs/report.md": "guides/report.md",
    "docs/ci.md": "guides/ci.md",
    "docs/reference.md": "guides/reference.md",
    "docs/how.md": "guides/how.md",
    "docs/isolation.md": "guides/isolation.md",
    "docs/public.md": "guides/public.md",
    "examples/README.md": "guides/examples.md",
    "implementations/ledger/README.md": "guides/ledger.md",
    "implementations/ledger/devices/README.md": "guides/devices.md",
    "tests/bench/README.md": "guides/bench.md",
    "CONTRIBUTING.md": "guides/contributing.md",
    "CHANGELOG.md": "guides/changelog.md",
    "SECURITY.md": "guides/security.md",
    "docs/glossary.md": "glossary.md",
}
GENERATED = {  # what a page of the site shows in another form
    "spec/README.md": "clauses/index.md",
    "spec/incidents.md": "bugs/index.md",
    "spec/options.md": "options/index.md",
    "implementations/ledger/matrix.md": "implementations/index.md",
}
FENCED = re.compile(r"^( *)(`{3,}).*?^\1\2 *$", re.M | re.S)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
SPAN = re.compile(r"`[^`]+`")


def pages() -> Iterator[Page]:
    """All of them."""
    for file, path in GUIDES.items():
        text = (ROOT / file).read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        yield Page(path, title, rewritten(text, file, path), boost=boosts(file))


def boosts(file: str) -> float:
    """How much search prefers it."""
    if file == "docs/glossary.md":
        return 20  # a definition is short, and pages about a word repeat it
    return 2 if file.startswith("docs/") else 1


def rewritten(text: str, file: str, path: str) -> str:
    """The text with links that lead to pages of the site, or to nothing that is not there."""

    def link(match: re.Match[str]) -> str:
        return linked(" ".join(match[1].split()), match[2], file, path)

    def words(part: str) -> str:
        part = SPAN.sub(lambda x: x[0].replace("\n", " "), part)
        return LINK.sub(link, part)

    return outside_of_code(text, words)


def outside_of_code(text: str, change: Callable[[str], str]) -> str:
    """The text, changed where it is no block of code."""
    found, place = "", 0
    for fenced in FENCED.finditer(text):
        found += _paragraphs(text[place : fenced.start()], change) + fenced[0]
        place = fenced.end()
    return found + _paragraphs(text[place:], change)


def _paragraphs(text: str, change: Callable[[str], str]) -> str:
    parts = re.split(r"(\n\n+)", text)
    return "".join(x if n % 2 or x.startswith("    ") else change(x) for n, x in enumerate(parts))


def linked(words: str, to: str, file: str, path: str) -> str:
    """A link of a file as one of the site."""
    if re.match(r"https?:|mailto:", to):
        return f"[{words}]({to})"
    name, mark, anchor = to.partition("#")
    if not name:
        return f"[{words}]({mark}{anchor})"
    target = normpath((PurePosixPath(file).parent / name).as_posix())
    there = GUIDES.get(target) or GENERATED.get(target)
    if there is None:
        return f"[{words}]({SOURCE}/{target}{mark}{anchor})" if SOURCE else words
    if target == "spec/incidents.md" and anchor:
        there, mark, anchor = f"bugs/{anchor}.md", "", ""
    if target in GENERATED and anchor:
        mark = anchor = ""
    term = "{ .term }" if there == GUIDES["docs/glossary.md"] and anchor else ""
    return f"[{words}]({relpath(there, PurePosixPath(path).parent)}{mark}{anchor}){term}"
