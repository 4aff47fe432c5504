"""Links from the words of a page to the glossary.

The glossary is docs/glossary.md: a heading for each term, then a line `Also: ...` with other forms
of it, if there are any. In each paragraph, list item and cell of a table, the first use of a term
becomes a link. Headings, code, formulas and other links stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath

from docs.generator.facts import ROOT
from docs.generator.naming import slug

FILE = ROOT / "docs" / "glossary.md"
PAGE = "glossary.md"
ENTRY = re.compile(r"^## (.+)\n+(?:Also: (.+)\n)?", re.M)
FENCE = re.compile(r"^ *(`{3,}|~{3,})")
KEPT = re.compile(  # parts of a line in which no term is looked for
    r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)|<[^>]+>|&#?\w+;|https?://\S+|\[\[?[^\]]*\]"
)
CELL = re.compile(r"(\|)")
UNLINKED = ("#", "<", "|--", "| ---", "    ", "\t", ":::")


class Glossary:
    """The terms of a glossary, and how each is written."""

    def __init__(self, text: str) -> None:
        self.forms: dict[str, str] = {}  # in lower case, with the anchor of its term
        for term, also in ENTRY.findall(text):
            for form in (term, *filter(None, (x.strip(" .") for x in also.split(",")))):
                self.forms.setdefault(form.lower(), slug(term))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Every form, the longest first, as a whole word."""
        longest = sorted(self.forms, key=len, reverse=True)
        return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, longest))})(?![\w-])", re.I)

    def linked(self, text: str, path: str) -> str:
        """The text of a page with links to the glossary."""
        if path == PAGE or not self.forms:
            return text
        to = "../" * (len(PurePosixPath(path).parts) - 1) + PAGE
        return "".join(self._lines(text, to))

    def _lines(self, text: str, to: str) -> Iterator[str]:
        fence, used = "", set[str]()
        lines = text.splitlines(keepends=True)
        start = _after_metadata(lines)
        yield from lines[:start]
        for line in lines[start:]:
            mark = FENCE.match(line)
            if mark:
                fence = mark[1] if not fence else "" if mark[1].startswith(fence) else fence
            if fence or mark or line.startswith(UNLINKED):
                yield line
                continue
            if not line.strip() or line.startswith(("* ", "- ", ":   ")):
                used = set()
            yield self._line(line, to, used)

    def _line(self, line: str, to: str, used: set[str]) -> str:
        if not line.startswith("|"):
            return self._parts(line, to, used)
        cells = CELL.split(line)
        return "".join(self._parts(cell, to, set()) for cell in cells)

    def _parts(self, text: str, to: str, used: set[str]) -> str:
        found, place = "", 0
        for kept in KEPT.finditer(text):
            found += self._words(text[place : kept.start()], to, used) + kept[0]
            place = kept.end()
        return found + self._words(text[place:], to, used)

    def _words(self, text: str, to: str, used: set[str]) -> str:
        def link(match: re.Match[str]) -> str:
            anchor = self.forms[match[0].lower()]
            if anchor in used:
                return match[0]
            used.add(anchor)
            return f"[{match[0]}]({to}#{anchor}){{ .term }}"

        return self.pattern.sub(link, text)


def _after_metadata(lines: list[str]) -> int:
    """The number of lines of metadata at the beginning of a page."""
    if lines[:1] != ["---\n"]:
        return 0
    return next((n + 1 for n, line in enumerate(lines) if n and line == "---\n"), 0)


def glossary() -> Glossary:
    """That of this repository."""
    return Glossary(FILE.read_text(encoding="utf-8"))


def terms() -> Mapping[str, str]:
    """Every form of a term, with its anchor."""
    return glossary().forms
