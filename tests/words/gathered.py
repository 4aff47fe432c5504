"""The texts that a person reads: pages, docstrings, messages, examples, ledgers. Read, never run.

A text is a file and a sentence in it. Of a program these are the docstrings of all that is public,
and the string constants: help, conditions, conventions, causes and error messages are made of them.
An f-string is one text, in which {…} stands for each value.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from tests.walked import ROOT, statements

FOLDERS = ("attention_spec", "docs", "examples", "implementations", "oracles", "spec")
GENERATED = "implementations/ledger/matrix.md"  # from ledgers and certificates
LEDGER = "implementations/ledger/"
EXAMPLES = ("implementations/", "oracles/")  # of their strings only messages are read

CODE = re.compile(r"^```(python|toml|diff|yaml)\n.*?^```", re.MULTILINE | re.DOTALL)
BLOCKS = re.compile(r"\n\s*\n|^\s*(?:[-*+>]|\d+\.)\s+|\s*\|\s*|^```.*$", re.MULTILINE)
HEADINGS = re.compile(r"^(#.*)$", re.MULTILINE)
PARAGRAPHS = re.compile(r"\n\s*\n")
ENDS = re.compile(r"(?<=[.!?;:])[\"')*]*\s+(?=[\"'(`*]*[A-Z])")
DOCUMENTED = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


class Sentence(NamedTuple):
    path: str
    text: str


def gathered() -> Iterator[Sentence]:
    """Yield every sentence that a person reads."""
    for path in paths():
        yield from cut(path, texts(path, (ROOT / path).read_text(encoding="utf-8")))


def paths() -> list[str]:
    """The files with texts that a person reads."""
    found = {*ROOT.glob("*.md"), *ROOT.glob("spec/schema/*.json"), *ROOT.glob("pytest_*.py")}
    found.update(ROOT.glob(f"{LEDGER}**/*.toml"))
    for folder in FOLDERS:
        found.update((ROOT / folder).rglob("*.md"), (ROOT / folder).rglob("*.py"))
    return sorted({path.relative_to(ROOT).as_posix() for path in found} - {GENERATED})


def texts(path: str, source: str) -> Iterator[str]:
    """The texts of a file, by what kind of file it is."""
    if path.endswith(".md"):
        yield from page(source)
    elif path.endswith(".toml"):
        yield from values(tomllib.loads(source))
    elif path.endswith(".json"):
        yield from values(json.loads(source))
    else:
        tree = ast.parse(source)
        program = path.startswith(EXAMPLES) and not path.startswith(LEDGER)
        yield from messages(tree) if program else constants(tree)
        yield from docstrings(tree)


def page(text: str) -> Iterator[str]:
    """The paragraphs, headings, items and cells of a page of Markdown, without its programs."""
    apart = HEADINGS.sub(r"\n\1\n\n", CODE.sub("", text))
    yield from BLOCKS.split(apart)


def values(entry: Any) -> Iterator[str]:
    """The texts of a TOML or JSON file; a single word is a name."""
    match entry:
        case str():
            yield from [entry] if " " in entry else ()
        case dict() | list():
            for value in entry.values() if isinstance(entry, dict) else entry:
                yield from values(value)


def docstrings(tree: ast.Module) -> Iterator[str]:
    """The paragraphs of the docstrings of a module, and of its public classes and functions."""
    public = (x for x in statements(tree) if isinstance(x, DOCUMENTED) and x.name[0] != "_")
    for node in (tree, *public):
        yield from PARAGRAPHS.split(ast.get_docstring(node) or "")


def constants(tree: ast.AST) -> Iterator[str]:
    """The string constants of several words that are not docstrings."""
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        text = _text(node)
        if text is None:
            below = ast.iter_child_nodes(node)
            nodes += (x for x in below if not isinstance(x, ast.Expr) or _text(x.value) is None)
        elif " " in text:
            yield from PARAGRAPHS.split(text)


def messages(tree: ast.AST) -> Iterator[str]:
    """The string constants of the exceptions that are raised."""
    for node in statements(tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            yield from constants(node.exc)


def _text(node: ast.AST) -> str | None:
    """The text of a constant or an f-string; None for anything else."""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "{…}" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def cut(path: str, found: Iterable[str]) -> Iterator[Sentence]:
    """The sentences of some texts, each in one line."""
    for text in found:
        for sentence in ENDS.split(" ".join(text.split())):
            if sentence:
                yield Sentence(path, sentence)
