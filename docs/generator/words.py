"""The words for problems, as `--where` and reports use them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import import_module
from importlib.util import find_spec

from docs.generator.naming import chapter
from docs.generator.writing import Page, code, joined, prose, table
from spec.kinds import KINDS

ENTRY = re.compile(r"^ {0,4}(\S.*?\S) {2,}(\S.*)$")
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
        meanings = described(kind.problem.__module__)
        letters = ", ".join(map(code, kind.features.letters))
        cells = ((code(word), prose(meanings.get(word, ""))) for word in kind.features.words)
        parts += [f"## {chapter(about)}", f"Sizes: {letters}.", table(("word", "meaning"), cells)]
    yield Page(HERE, "Words for problems", joined(*parts), "The words of `--where` and of reports.")


def described(module: str) -> Mapping[str, str]:
    """The text on each word in the docstring of the module `features` next to a kind."""
    package = module.rpartition(".")[0]
    while package and find_spec(f"{package}.features") is None:
        package = package.rpartition(".")[0]
    found: dict[str, str] = {}
    word = ""
    for line in (import_module(f"{package}.features").__doc__ or "").splitlines():
        entry = ENTRY.match(line)
        if entry and not line.startswith("      "):
            word = entry[1]
            found[word] = entry[2]
        elif word and line.startswith("      "):
            found[word] += f" {line.strip()}"
        else:
            word = ""
    return found
