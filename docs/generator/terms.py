"""Links from the words of a page to the glossary.

The glossary is docs/glossary.md: a heading for each term, then a line `Also: ...` with other forms
of it, if there are any. In each paragraph, list item and cell of a table, the first use of a term
becomes a link, and so does the number of a clause. Headings, code, formulas and other links stay
as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from functools import cached_property
from pathlib import PurePosixPath

from docs.generator.facts import ROOT
from docs.generator.naming import clause_path, slug
from spec.laws import CLAUSES

FILE = ROOT / "docs" / "glossary.md"
GLOSSARY = "glossary"
PAGE = f"{GLOSSARY}.md"
ENTRY = re.compile(r"^## (.+)\n+(?:Also: (.+)\n)?", re.M)
FENCE = re.compile(r"^ *(`{3,}|~{3,})")
KEPT = re.compile(  # parts of a line in which no term is looked for
    r"`[^`]*`|!?\[[^\]]*\]\([^)]*\)|<[^>]+>|&#?\w+;|https?://\S+|\[\[?[^\]]*\]"
)
TERM = re.compile(rf"\(\S*?({re.escape(PAGE)}#[\w-]+)\)$")  # a link that a person wrote
NUMBER = r"(?<!\w)[A-Z]\d{1,2}(?!\w)"  # of a clause, perhaps
CELL = re.compile(r"(\|)")
UNLINKED = ("#", "<", "|--", "| ---", "    ", "\t", ":::")


class Glossary:
    """The terms of a glossary, and how each is written; and the numbers of clauses."""

    def __init__(self, text: str, numbers: Collection[str] = ()) -> None:
        self.numbers = numbers
        self.forms: dict[str, str] = {}  # in lower case, with the anchor of its term
        for term, also in ENTRY.findall(text):
            for form in (term, *filter(None, (x.strip(" .") for x in also.split(",")))):
                self.forms.setdefault(form.lower(), slug(term))

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Every form, the longest first, as a whole word; or what may be a number."""
        longest = sorted(self.forms, key=len, reverse=True)
        forms = "|".join(map(re.escape, longest))
        return re.compile(rf"(?<![\w-])(?i:{forms})(?![\w-])|{NUMBER}")

    def linked(self, text: str, path: str) -> str:
        """The text of a page with links to the glossary."""
        to = "../" * (len(PurePosixPath(path).parts) - 1)
        return "".join(self._lines(text, to, {path.removesuffix(".md")}))

    def _lines(self, text: str, to: str, here: set[str]) -> Iterator[str]:
        """Lines with links. here: what this page is about, to which it does not link."""
        fence, used = "", {*here}
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
                used = {*here}
            yield self._line(line, to, used, here)

    def _line(self, line: str, to: str, used: set[str], here: set[str]) -> str:
        if not line.startswith("|"):
            return self._parts(line, to, used)
        cells = CELL.split(line)
        return "".join(self._parts(cell, to, {*here}) for cell in cells)

    def _parts(self, text: str, to: str, used: set[str]) -> str:
        found, place = "", 0
        for kept in KEPT.finditer(text):
            found += self._words(text[place : kept.start()], to, used) + kept[0]
            used.update(TERM.findall(kept[0]))
            place = kept.end()
        return found + self._words(text[place:], to, used)

    def _words(self, text: str, to: str, used: set[str]) -> str:
        def link(match: re.Match[str]) -> str:
            anchor = self.forms.get(match[0].lower())
            there = f"{PAGE}#{anchor}" if anchor else clause_path(match[0])
            known = (anchor and GLOSSARY not in used) or match[0] in self.numbers
            if not known or there.removesuffix(".md") in used:
                return match[0]
            used.add(there.removesuffix(".md"))
            return f"[{match[0]}]({to}{there}){{ .term }}"

        return self.pattern.sub(link, text)


def _after_metadata(lines: list[str]) -> int:
    """The number of lines of metadata at the beginning of a page."""
    if lines[:1] != ["---\n"]:
        return 0
    return next((n + 1 for n, line in enumerate(lines) if n and line == "---\n"), 0)


def glossary() -> Glossary:
    """The glossary of this repository."""
    return Glossary(FILE.read_text(encoding="utf-8"), CLAUSES)
