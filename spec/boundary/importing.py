"""The modules that a target imports, as its text says; nothing of it is run."""

import ast
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from spec.boundary.languages import file_of
from spec.runner.inference import NAMES


def libraries(target: str, folder: str) -> list[str]:
    """The array libraries that the file of a target imports."""
    if file_of(target):
        return ["numpy"]
    top = target.partition(".")[0]
    if top in NAMES:
        return [top]
    text = _text(target, folder)
    return [name for name in NAMES if re.search(rf"^[ \t]*(import|from) {name}\b", text, re.M)]


def imported(target: str, folder: str) -> Sequence[str]:
    """The module of a target that has no file in its folder; else those that its file imports."""
    if file_of(target):
        return []
    place, text = target.rpartition(":")[0], _text(target, folder)
    if not text:
        return [] if place.endswith(".py") else [place]
    try:
        return [*dict.fromkeys(_named(ast.parse(text)))]
    except (SyntaxError, ValueError):
        return []


def source(target: str, folder: str) -> str:
    """The file of a target in its folder and the line on which it begins; "" if it is not there."""
    name = target.rpartition(":")[2]
    if file := file_of(target):
        return _short(file, folder)
    try:
        body = ast.parse(_text(target, folder)).body
    except (SyntaxError, ValueError):
        return ""
    kinds = ast.FunctionDef | ast.ClassDef
    named = (x for x in body if isinstance(x, kinds) and x.name == name.partition(".")[0])
    lines = (min([x.lineno, *(y.lineno for y in x.decorator_list)]) for x in named)
    line = next(lines, 0)
    return f"{_short(_path(target, folder), folder)}:{line}" if line else ""


def _short(file: Path, folder: str) -> str:
    """A path as it is shown: from the folder where it is in it."""
    absolute = Path(os.path.abspath(file))
    return str(absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute)


def _named(tree: ast.Module) -> Iterator[str]:
    """The names of the modules in the import statements of a module."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _text(target: str, folder: str) -> str:
    """The text of the file of a target in its folder; "" where there is none."""
    try:
        return _path(target, folder).read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _path(target: str, folder: str) -> Path:
    """The path of the file of a target, if it is in its folder."""
    place = target.rpartition(":")[0]
    return Path(folder, place if place.endswith(".py") else f"{place.replace('.', '/')}.py")
