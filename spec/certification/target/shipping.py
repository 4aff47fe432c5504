"""The descriptions and adapters that this package has for classes of other libraries.

`adapters/classes.json` has the adapters: `package:Class` -> the target to name instead. The package
is one from which the class is imported, or a parent of the module that defines it.
"""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from spec.abilities import Described
from spec.backends import Unsuitable
from spec.backends.library import INDENT, Elsewhere, description_file
from spec.certification.settings import Request
from spec.certification.starting import COMMAND, NAME
from spec.certification.target.recorded import Recorded, adapters, recorded
from spec.runner.find import bases

ADAPTED = "an adapter of this package tests"


def read(described: Described, description: str, found: Any, origin: str) -> Mapping[str, Any]:
    """The content of a description, as a kind of target reads it.

    Raises Unsuitable, with the target that a description of this package is for.
    """
    try:
        said: Mapping[str, Any] = described(description, found)
    except Unsuitable as reason:
        told = _misused(description, found, origin)
        raise Unsuitable(f"{told} ({reason})" if told else str(reason)) from None
    return said


def advised(complaint: str, found: Any, origin: str, request: Request, suited: bool) -> str:
    """The error about a target that gives no answer: what to do comes first, where that is known.

    complaint: the error so far. origin: how a person imports it, where it can be. suited: whether a
    description may help.
    """
    home = _home(found)
    if request.description:
        other = _misused(request.description, found, origin)
        return "; ".join(filter(None, (complaint, other, adapts(origin))))
    told = _shipped(origin, home) or _adapted(origin) or _adapted(home) or _inherited(found, origin)
    if not told and suited and INDENT not in complaint:  # no lines are proposed
        told = _alike(home)
        if not told and "--description" not in complaint:
            file = description_file(home.partition(":")[2])
            how = f"describe it: --description {file} (docs/layer.md)"
            return f"{complaint}; if its parameters have other names, {how}"
    # Lines that a complaint proposes for another description are of no use next to the right one.
    line = complaint if not told else told if INDENT in complaint else f"{told} ({complaint})"
    return "; ".join(filter(None, (line, adapts(origin))))


def _shipped(*targets: str) -> str:
    """The description of this package for a target, and the command; "" if there is none."""
    name, same = targets[-1].partition(":")[2], _of(*targets)
    return f"{name} is described in this package: {_command(same)}" if same else ""


def _inherited(found: Any, origin: str) -> str:
    """The description of a class that a class inherits from, and the command; "" if none is."""
    every = found.bases if isinstance(found, Elsewhere) else bases(found)
    rows = next((same for x in every if (same := _of(x))), [])
    if not rows or not origin:
        return ""
    name, base = origin.rpartition(":")[2], rows[0].place
    command = _command(rows).replace(base, origin, 1)
    return (
        f"{name} inherits from {base.rpartition(':')[2]}, which this package describes: {command}"
    )


def _of(*targets: str) -> list[Recorded]:
    """What was recorded of a target with a description of this package, the first that it has."""
    rows = [x for x in recorded() if x.description and x.place in targets]
    return [x for x in rows if x.description == rows[0].description]


def _alike(home: str) -> str:
    """What is shipped for other layers like one of a library, or how to describe it oneself."""
    place, _, name = home.partition(":")
    others = [x for x in recorded() if x.description]
    same = [x for x in others if x.place.partition(":")[0] == place]
    none = f"this package has no description of {name}"
    if same:
        shipped = same[0].place.partition(":")[2]
        return f"{none}, but one of {shipped} in the same module: {_command(same)}"
    library = place.partition(".")[0]
    if any(x.place.startswith(f"{library}.") for x in others):
        listing = f"`{COMMAND} targets {library}` lists those of other layers"
        how = f"write one, --description {description_file(name)}, as in docs/layer.md"
        return f"{none}: {how}; {listing}"
    return ""


def _misused(description: str, found: Any, origin: str) -> str:
    """Which target a description of this package is for, if it is another one; else "".

    A file of the same name goes before the description of this package.
    """
    rows = [x for x in recorded() if x.description == description]
    if not rows or Path(description).is_file() or {origin, _home(found)} & {x.place for x in rows}:
        return ""
    return f"{description} describes {rows[0].place}: {_command(rows)}"


def _adapted(home: str) -> str:
    """The adapter of a class that stands in a module, and the command; "" if there is none."""
    module, _, name = home.partition(":")
    for written, target in adapters().items():
        package, _, known = written.partition(":")
        if name == known and f"{module}.".startswith(f"{package}."):
            return f"{ADAPTED} {name}: {_command([x for x in recorded() if x.target == target])}"
    return ""


def adapts(origin: str) -> str:
    """A line that names the class of a library which an adapter of this package tests, or ""."""
    known = [x for x, target in adapters().items() if f"{NAME}{target}" == origin]
    return f"{origin.rpartition(':')[2]} is an adapter of {' and '.join(known)}" if known else ""


def _command(rows: list[Recorded]) -> str:
    """What to type to test what was recorded, of all of it if that was done at once."""
    return f"`{COMMAND} certify {min(rows, key=lambda x: '--where' in x.options).arguments}`"


def _home(found: Any) -> str:
    """Where a class, a function or the class of an object is defined, as `module:name`."""
    named = found if inspect.isclass(found) or inspect.isroutine(found) else type(found)
    return f"{named.__module__}:{named.__qualname__}"
