"""The words for problems, as `--where` and reports use them."""

from __future__ import annotations

from collections.abc import Iterator

from docs.generator.naming import chapter
from docs.generator.writing import Page, code, joined, prose, table
from spec.kinds import KINDS
from spec.meanings import meaning

HERE = "guides/conditions.md"
ABOUT = (
    "A condition describes a set of problems: where a target is wrong, or where it is to be "
    "tested. It has words and comparisons of sizes, joined by `and`, `or` and `not`: "
    '`--where "not causal or N >= M"`. `no mask` is `not a mask`.'
)


def pages() -> Iterator[Page]:
    """The page."""
    parts = ["# Words for problems", ABOUT]
    for about, kind in KINDS.items():
        words = (*kind.features.letters, *kind.features.words)
        cells = ((code(word), prose(meaning(word, kind.meanings))) for word in words)
        parts += [f"## {chapter(about)}", table(("word or size", "meaning"), cells)]
    yield Page(HERE, "Words for problems", joined(*parts), "The words of `--where` and of reports.")
