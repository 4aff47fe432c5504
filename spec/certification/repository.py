"""Targets by name, as a repository lists them in its pyproject.toml.

    [tool.attention-spec]
    profile = "quick"                            # for all targets

    [tool.attention-spec.targets.attend]
    target = "mine.py:attend"                    # from the folder of this file
    conventions = { fully-masked = "nan" }

    [tool.attention-spec.targets.attend.deviations]
    C14 = "the kernel multiplies by the scale after masking"

Keys are the fields of a request, with - or _ in their names, except `specification` and
`isolation`: a repository chooses neither the clauses that it is tested with nor how it is kept
apart from its judge. The keys of one target override those of all targets, and options of the
command line override both. Tables are merged.
"""

import os
import re
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from spec.backends import Unsuitable
from spec.backends.library import first_line
from spec.backends.unknown import unknown
from spec.certification.doors import requested
from spec.certification.settings import Request, selected
from spec.certification.target.declared import check_deviations
from spec.certification.target.loading import resolved
from spec.runner.foreign import parted

FILE, SECTION = "pyproject.toml", "tool.attention-spec"
NAME = r"\w[\w.-]*"  # of a target
IN_FILE = ".py:"  # a target so written begins with a path
Table = Mapping[str, Any]


def _strings(values: Any) -> bool:
    return all(isinstance(value, str) for value in values)


FORMS: Mapping[str, tuple[str, Callable[[Any], bool]]] = {  # of a field -> of what is written
    "str": ("a string", lambda x: isinstance(x, str)),
    "bool": ("true or false", lambda x: isinstance(x, bool)),
    "int": ("a whole number", lambda x: type(x) is int),
    "float": ("a number", lambda x: type(x) in (int, float)),
    "tuple[str, ...]": ("a list of strings", lambda x: isinstance(x, list) and _strings(x)),
    "Mapping[str, str]": (
        "a table of strings",
        lambda x: isinstance(x, dict) and _strings(x.values()),
    ),
}
# What is judged chooses neither its law nor its walls, nor what nobody may know beforehand.
BESIDE = ("specification", "isolation", "secret", "nonce")
KEYS = {
    name: FORMS[form]
    for name, field in Request.__dataclass_fields__.items()
    for form in [str(field.type).removesuffix(" | None")]
    if form in FORMS and name not in BESIDE
}


def requests(name: str | None, asked: Table) -> dict[str, Request]:
    """The requests by name: of all targets in the repository, of one, or of a named target.

    name: `module:name` or `path/to/file.py:name`, a name in the table, or None for all. asked:
    fields of a request, which override those in the file. Raises Unsuitable if there is no target,
    or if the file is invalid.
    """
    if name is not None and (":" in name or parted(name)):
        return {name: requested(name, asked)}
    file, section = _section()
    if file is None:
        if name is not None:
            return {name: requested(name, asked)}
        raise Unsuitable(f"no target: name one, or several in [{SECTION}.targets] of {FILE}")
    place = f"{file}: {SECTION}"
    found = targets(file, section, place, f"{SECTION}.targets")
    if name is not None and name not in found:
        raise Unsuitable(f"{file}: {unknown('target', name, found)}")
    chosen = found if name is None else {name: found[name]}
    return {word: request_of(_added(written, asked)) for word, written in chosen.items()}


def content(file: Path) -> dict[str, Any]:
    """The content of a TOML file. Raises Unsuitable if it cannot be read, or is invalid."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unsuitable(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Unsuitable(f"{file}: {first_line(error)}") from None


def _section() -> tuple[Path | None, Table]:
    """The nearest file, from here upwards, that has the section, and the section."""
    for folder in (here := Path.cwd(), *here.parents):
        file = folder / FILE
        if not file.is_file():
            continue
        section = _table(content(file).get("tool", {}), f"{file}: tool").get("attention-spec")
        if section is not None:
            return file, _table(section, f"{file}: {SECTION}")
    return None, {}


def targets(file: Path, section: Table, place: str, tables: str) -> dict[str, Table]:
    """The fields of each request in a file, all of them checked.

    section: the content at `place` in the file. tables: the name of the tables of targets. Raises
    Unsuitable if there are no targets, or if a value is invalid.
    """
    shared = {key: value for key, value in section.items() if key != "targets"}
    common = _fields(shared, place, file.parent)
    if "target" in common:
        raise Unsuitable(f"{place}: write target in a table {tables}.NAME")
    named = _table(section.get("targets", {}), f"{file}: {tables}")
    if not named:
        raise Unsuitable(f"{file}: {tables}: there are none")
    found: dict[str, Table] = {}
    for name, written in named.items():
        where = f"{file}: {tables}.{name}"
        if not re.fullmatch(NAME, name):
            raise Unsuitable(f"{where}: a name has letters, digits, _, - and . only")
        own = _fields(_table(written, where), where, file.parent)
        found[name] = _added(common, own)
        _check(found[name], where)
    return found


def _fields(table: Table, place: str, folder: Path) -> dict[str, Any]:
    """The fields of a request in a table. Raises Unsuitable for an unknown key or value."""
    found = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in KEYS:
            raise Unsuitable(f"{place}: {_unknown(key)}")
        form, fits = KEYS[name]
        if not fits(value):
            raise Unsuitable(f"{place}.{key}: got {value!r}, want {form}")
        is_path = _is_path(name, value, folder)
        found[name] = _from_here(name, folder / value) if is_path else value
        if name == "target" and not is_path and str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    return found


def _is_path(name: str, value: Any, folder: Path) -> bool:
    """Whether a value is a path from the folder of its file, and not a name."""
    if name == "description":
        return value.endswith(".toml") or (folder / value).is_file()
    return name == "target" and (IN_FILE in value or parted(value) is not None)


def _from_here(name: str, path: Path) -> str:
    """A path from the working directory; that of a program is still seen to be a path."""
    found = os.path.relpath(path)
    is_program = name == "target" and IN_FILE not in found and not parted(found)
    return os.path.join(".", found) if is_program else found


def _unknown(key: str) -> str:
    """The reason why a key is not allowed in a file."""
    if key in BESIDE:
        return f"{key} is an option of the command line, and no key of a file"
    return str(unknown("key", key, KEYS))


def _check(fields: Table, place: str) -> None:
    """Raise Unsuitable, with the place, for errors that can be found without a test."""
    target = fields.get("target", "")
    if ":" not in target and not parted(target):
        raise Unsuitable(f"{place}.target: write module:name or path/to/file.py:name")
    try:
        request = request_of(fields)
        clauses = resolved(request.specification)
        selected(clauses, request.clauses)
        for number, reason in request.deviations.items():
            about = clauses[number].about if number in clauses else ""
            check_deviations({number: reason}, clauses, about)
    except Unsuitable as reason:
        raise Unsuitable(f"{place}: {reason}") from None


def request_of(fields: Table) -> Request:
    """The request with these fields, its target among them. Raises Unsuitable."""
    return requested(fields["target"], {k: x for k, x in fields.items() if k != "target"})


def _added(first: Table, then: Table) -> dict[str, Any]:
    """Both tables merged; the second one overrides the first."""
    both = {
        name: {**first[name], **then[name]}
        for name in first.keys() & then.keys()
        if isinstance(first[name], Mapping)
    }
    return {**first, **then, **both}


def _table(found: Any, place: str) -> Table:
    if not isinstance(found, dict):
        raise Unsuitable(f"{place}: got {found!r}, want a table")
    return found
