"""The parts of a page in Markdown: text, code, links, tables and formulas.

Text of the specification is plain: it has backquotes for code, and no other markup. Characters that
mean something in Markdown are written as entities. A link names a page by its path in the site.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from os.path import relpath
from pathlib import PurePosixPath

from spec.certification.pages.formulas import formula, is_clear

SPECIAL = re.compile(r"[&<>*_\[\]|~^#\\$]")
CODE = re.compile(r"(`[^`\n]+`)")
ENTRY = re.compile(r"\b([A-Za-z]|d[a-z]|lse|dlse|dout)_([hijmn]{1,2}|[01])\b")  # as in s_ij
FENCE = "````"


@dataclass(frozen=True)
class Page:
    """A page. path: in the site, with the ending .md. boost: how much search prefers it."""

    path: str
    title: str
    body: str
    description: str = ""
    boost: float = 1.0

    @property
    def text(self) -> str:
        """The whole file, with its metadata."""
        lines = [f"title: {quoted(self.title)}"]
        lines += [f"description: {quoted(self.description)}"] * bool(self.description)
        lines += ["search:", f"  boost: {self.boost:g}"] if self.boost != 1 else []
        return "\n".join(("---", *lines, "---", "", self.body.strip(), ""))


def quoted(text: str) -> str:
    """A string of YAML, in one line."""
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def plain(text: str) -> str:
    """Text without code, every special character an entity."""
    return SPECIAL.sub(lambda x: f"&#{ord(x[0])};", text)


def prose(text: str) -> str:
    """Text as Markdown, in one line: what stands between backquotes is code."""
    parts = CODE.split(" ".join(text.split()))
    return "".join(x if n % 2 else _entries(x) for n, x in enumerate(parts))


def _entries(text: str) -> str:
    """Text in which an entry of an array has its index set lower: q_i, s_ij."""
    parts = ENTRY.split(text)
    found = [plain(parts[0])]
    for n in range(1, len(parts), 3):
        name, index, after = parts[n : n + 3]
        found.append(f'<span class="entry">{name}<sub>{index}</sub></span>{plain(after)}')
    return "".join(found)


def code(text: str) -> str:
    """A name as code."""
    return f"`{text}`"


def heading(text: str, indexed: bool = True, level: int = 2) -> str:
    """A heading. indexed: whether search looks at what follows."""
    return f"{'#' * level} {text}{'' if indexed else ' { data-search-exclude }'}"


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of words, each with what there is to say."""
    cells = "".join(f"\n{word}\n:   {text}\n" for word, text in rows)
    return f'<div class="facts" markdown="1">\n{cells}\n</div>'


def where(*links: str) -> str:
    """Where a page is: links to the lists that it is in, the widest first."""
    return f'<p class="where" markdown="1">{" › ".join(links)}</p>'


def listed(items: Iterable[str]) -> str:
    """Items of a list."""
    return "\n".join(f"* {item}" for item in items)


def link(here: str, there: str, words: str) -> str:
    """A link from one page to another, whose path may end with an anchor."""
    path, mark, anchor = there.partition("#")
    to = relpath(path, PurePosixPath(here).parent) if path != here else ""
    to = to or ("" if mark else PurePosixPath(path).name)
    return f"[{words}]({to}{mark}{anchor})"


def outside(address: str, words: str) -> str:
    """A link to another site."""
    return f"[{words}]({address})"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; nothing if it has no rows."""
    found = [f"| {' | '.join(cell or ' ' for cell in row)} |" for row in rows]
    if not found:
        return ""
    return "\n".join((f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}", *found))


def block(text: str, language: str = "") -> str:
    """A block of code."""
    return f"{FENCE}{language}\n{text.rstrip()}\n{FENCE}"


def mathematics(text: str) -> str:
    """A formula as mathematics; as it was written if it cannot be read."""
    if not is_clear(text):
        return block(text, "text")
    return f'<div class="formula">{formula(text)}</div>'


def paragraphs(text: str) -> str:
    """A docstring as Markdown: paragraphs that are indented are formulas."""
    return "\n\n".join(map(_paragraph, text.strip("\n").split("\n\n")))


def _paragraph(text: str) -> str:
    lines = text.splitlines()
    if all(line.startswith("    ") for line in lines):
        return mathematics("\n".join(line.strip() for line in lines))
    return prose(text)


def sentence(text: str) -> str:
    """Text with a capital and a full stop."""
    text = text.strip()
    return capital(text if text[-1:] in ".?!" else f"{text}.")


def capital(text: str) -> str:
    """Text that begins with a capital, unless it begins with a symbol: m_h, cap(t)."""
    is_word = re.match(r"[a-z][a-z-]*(?=[ ,.:;]|$)", text)
    return text[:1].upper() + text[1:] if is_word and len(is_word[0]) > 1 else text


def joined(*parts: str) -> str:
    """Parts of a page, with an empty line between them; those that are empty are left out."""
    return "\n\n".join(part.strip("\n") for part in parts if part.strip())


def counted(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: 1 clause, 2 clauses."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"
