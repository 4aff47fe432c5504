"""The modules that a target imports, as its text says; nothing of it is run."""

import ast
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from spec.boundary.languages import file_of
from spec.runner.inference import NAMES

DEFINED = ast.FunctionDef | ast.ClassDef


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
    place = target.rpartition(":")[0]
    if not _text(target, folder):
        return [] if place.endswith(".py") else [place]
    return [*dict.fromkeys(_named(body_of(target, folder)))]


def source(target: str, folder: str) -> str:
    """The file of a target in its folder and the line on which it begins; "" if it is not there."""
    if file := file_of(target):
        return _short(file, folder)
    body, line = body_of(target, folder), 0
    for part in target.rpartition(":")[2].split("."):
        named = (x for x in body if isinstance(x, DEFINED) and x.name == part)
        if (one := next(named, None)) is None:
            break
        line, body = min([one.lineno, *(x.lineno for x in one.decorator_list)]), one.body
    return f"{_short(path_of(target, folder), folder)}:{line}" if line else ""


def functions_of(target: str, folder: str) -> list[str]:
    """The functions and classes of the file of a target, as its text says."""
    found = (x.name for x in body_of(target, folder) if isinstance(x, DEFINED))
    return [name for name in found if not name.startswith("_")]


def names_of(target: str, folder: str) -> list[str]:
    """The same, and the names that the file imports from others."""
    found = (x.names for x in body_of(target, folder) if isinstance(x, ast.ImportFrom))
    return functions_of(target, folder) + [x.asname or x.name for names in found for x in names]


def body_of(target: str, folder: str) -> list[ast.stmt]:
    """The statements of the file of a target; none where there is none that can be read."""
    try:
        return ast.parse(_read(path_of(target, folder))).body
    except (OSError, SyntaxError, ValueError):
        return []


def _short(file: Path, folder: str) -> str:
    """A path as it is shown: from the folder where it is in it."""
    absolute = Path(os.path.abspath(file))
    return str(absolute.relative_to(folder) if absolute.is_relative_to(folder) else absolute)


def _named(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The names of the modules in the import statements of a module."""
    for node in body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _text(target: str, folder: str) -> str:
    """The text of the file of a target in its folder; "" where there is none."""
    try:
        return _read(path_of(target, folder)).decode()
    except (OSError, ValueError):
        return ""


def _read(path: Path) -> bytes:
    """The contents of a file. Raises OSError, also for a pipe, on which one would wait."""
    if not path.is_file():
        raise FileNotFoundError(path)
    return path.read_bytes()


def path_of(target: str, folder: str) -> Path:
    """The path of the file of a target, if it is in its folder."""
    place = target.rpartition(":")[0]
    if place.endswith(".py"):
        return Path(folder, place)
    path = Path(folder, *place.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
