"""Declarations: deviations by a user, in words or a file; conventions by a target itself."""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spec.backends.library import Unsuitable, first_line
from spec.certification.starting import COMMAND
from spec.clause import Clause
from spec.kinds import kind_of
from spec.version import no_clause


def declared(words: Sequence[str], file: str | None) -> dict[str, str]:
    """Number of a clause -> reason, from `CLAUSE=REASON` and a file of TOML or JSON.

    Raises Unsuitable for words of another form, or a file that cannot be read.
    """
    written = {} if file is None else _in_file(Path(file))
    return written | pairs("--deviation", words, "CLAUSE=REASON")


def pairs(option: str, words: Sequence[str], form: str) -> dict[str, str]:
    """The text before and after the first = of each word. Raises Unsuitable if there is none."""
    for word in words:
        if "=" not in word:
            raise Unsuitable(f"{option} {word!r}: write {form}")
    return dict(word.split("=", 1) for word in words)


def of_itself(found: Any, record: Any, asked: Mapping[str, str]) -> dict[str, str]:
    """The conventions that only the target declares, if they differ from the defaults.

    found: a program, or a record. record: made of it, with its conventions. asked: those that a
    user declares.
    """
    said, usual = getattr(found, "conventions", None), record.defaults
    names = {*said} - {*asked} if isinstance(said, Mapping) else ()
    held = {n: x for n, x in record.conventions.items() if n in names and n in usual}
    return {name: x for name, x in held.items() if x != usual[name]}


def check_own(found: Any, origin: str) -> None:
    """Raise Unsuitable for an attribute `conventions` that is no mapping of texts to texts."""
    said = getattr(found, "conventions", {})
    if not isinstance(said, Mapping) or not all(type(x) is str for y in said.items() for x in y):
        why = "is to map the names of conventions to choices, as texts"
        raise Unsuitable(f"the attribute conventions of {origin} {why}")


def check_deviations(
    deviations: Mapping[str, str], clauses: Mapping[str, Clause], about: str
) -> None:
    """Raise Unsuitable for a clause of another kind, the definition, or no reason."""
    for number, reason in deviations.items():
        if number not in clauses:
            raise Unsuitable(no_clause(number, COMMAND))
        what = clauses[number].about
        if what != about:
            raise Unsuitable(f"--deviation {number}: it is about {what}, the target about {about}")
        if number == kind_of(about).definition:
            noun = kind_of(about).noun
            raise Unsuitable(f"--deviation {number}: the definition of {noun} cannot be waived")
        if not isinstance(reason, str) or not reason.strip():
            raise Unsuitable(f"--deviation {number}: say why, as {number}=REASON")


def _in_file(path: Path) -> dict[str, str]:
    """The table in a file: JSON if its name says so, else TOML."""
    try:
        text = path.read_text(encoding="utf-8")
        found = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise Unsuitable(f"{path} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise Unsuitable(f"--deviations {path}: {first_line(error)}") from None
    if not isinstance(found, dict):
        raise Unsuitable(f"--deviations {path}: write CLAUSE = REASON, one a line")
    return found
