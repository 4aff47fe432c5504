"""Where the guides first use a word of the glossary that a newcomer does not know.

Only sentences count: no headings, tables, programs, names in backticks, or texts of other links.
"""

import re
from collections.abc import Iterator
from functools import cache

from docs.generator.naming import slug
from docs.generator.terms import Glossary, glossary
from tests.walked import ROOT

NAMES = ("function", "layer", "cache", "languages", "report", "ci", "reference", "how")
GUIDES = tuple(f"docs/{name}.md" for name in NAMES)
TERMS = (
    "API dialect",
    "Attention sink",
    "Basic case",
    "Cause",
    "Certificate",
    "Clause",
    "Convention",
    "Deviation",
    "Error bound",
    "Fully masked query",
    "KV cache",
    "Known bug",
    "Layout",
    "Ledger",
    "Log-sum-exp",
    "Packed sequences",
    "Paged keys",
    "Profile",
    "Region",
    "Rounding model",
    "Soft-cap",
    "Target",
)
ANCHORS = {slug(term) for term in TERMS}
SKIPPED = re.compile(  # in this order
    r"^(`{3,}).*?^\1 *$"  # a program
    r"|^(?:#|\||    )[^\n]*$"  # a heading, a row, an indented program
    r"|`[^`]*`|\[[^\]]*\]\((?!glossary\.md)[^)]*\)",  # a name, another link
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"\[([^\]]*)\]\(glossary\.md#([\w-]+)\)")


@cache
def known() -> Glossary:
    """The words of the glossary, each with its forms."""
    return glossary()


def uses(text: str) -> Iterator[tuple[str, int, int, bool]]:
    """Yield the first use of each word: its anchor, where it begins and ends, if it is a link."""
    plain = SKIPPED.sub(lambda x: re.sub(r"[^\n]", "\0", x[0]), text)
    spans = [(x.start(1), x.end(1), x[2]) for x in LINK.finditer(plain)]
    plain = LINK.sub(lambda x: f"\0{x[1]}".ljust(len(x[0]), "\0"), plain)
    seen: set[str] = set()
    for match in known().pattern.finditer(plain.replace("\n", " ")):
        anchor = known().forms.get(match[0].lower(), "")
        if anchor in ANCHORS and anchor not in seen:
            seen.add(anchor)
            linked = any(a <= match.start() < b and anchor == to for a, b, to in spans)
            yield anchor, match.start(), match.end(), linked


def linked(text: str) -> str:
    """Return the text of a guide, the first use of each word linked."""
    for anchor, start, end, done in sorted(uses(text), key=lambda x: -x[1]):
        if not done:
            text = f"{text[:start]}[{text[start:end]}](glossary.md#{anchor}){text[end:]}"
    return text


if __name__ == "__main__":
    for path in GUIDES:
        file = ROOT / path
        file.write_text(linked(file.read_text(encoding="utf-8")), encoding="utf-8")
