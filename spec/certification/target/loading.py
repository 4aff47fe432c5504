"""Load a target: find what a string names, detect its kind, and wrap it as a record.

A target is `module:name`, `path/to/file.py:name`, a function, a class, or a record of any kind.
The kind is detected from the function's parameters or the class's methods, unless the request
states it. A target that cannot be used raises `Unsuitable` with a message of one line.
"""

import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from spec.abilities import Guarded, unchanged
from spec.backends import Unsuitable
from spec.backends.library import Elsewhere, first_line
from spec.backends.unknown import hint, installing, unknown
from spec.boundary.connection import USUAL, Ending
from spec.boundary.found import far
from spec.boundary.importing import functions_of, names_of
from spec.boundary.languages import file_of
from spec.boundary.messages import Absent, Ended, Interfered
from spec.boundary.runners import withheld
from spec.certification.settings import Request
from spec.certification.starting import COMMAND, INSTALLED, NAME
from spec.certification.target.declared import check_own, of_itself
from spec.certification.target.fitting import confirmed, declared, suits, unasked
from spec.certification.target.naming import NAMED, parts_of
from spec.certification.target.shipping import adapts
from spec.kinds import KINDS, kind_of
from spec.runner.objects import kind_of as kind_of_object
from spec.subject import Subject

Target = str | Callable[..., Any] | Subject


def load(target: Target, request: Request, guard: Guarded = unchanged, tried: bool = True) -> Any:
    """The record of what `target` names, on the request's backend and device.

    guard: wraps an implementation in trials. tried: whether it is called at all. Raises Unsuitable
    for an unknown name, a program that cannot be called as its kind is, a first result of another
    form, or a record that its kind does not allow.
    """
    found: Any = resolved(target) if isinstance(target, str) else target
    record = _plugged(found, target, request, guard, tried)
    if tried:
        kind_of(record.about).targets.barred(record, guard)
    lacks = withheld(found.target, os.getcwd()) if isinstance(found, Elsewhere) else ""
    notes = (*record.notes, *filter(None, (adapts(record.origin), lacks)))
    return record.but(declares=of_itself(found, record, request.conventions), notes=notes)


def _plugged(found: Any, target: Target, request: Request, guard: Guarded, tried: bool) -> Any:
    """The record of an object that was found for a target."""
    origin = origin_of(request.target if ":" in request.target else target)
    if isinstance(found, Elsewhere) and file_of(found.target):
        origin = found.target
    if is_record(found):
        for option in ("description", "compiled"):
            if option in request.asked:
                said = f"--{option} {request.asked[option]}"
                raise Unsuitable(f"{said}: {origin} is a record already")
        if request.kind not in (None, found.about):
            what = f"{found.name} is a record about {found.about}"
            raise Unsuitable(f"--kind {request.kind}: {what}")
        suits(request, kind_of(found.about))
        found = found.but(origin=found.origin or origin, dtypes=request.dtypes or found.dtypes)
        return declared(found, request)
    if not callable(found):
        kind = type(found).__name__
        raise Unsuitable(f"{origin} is of type {kind}, not a function, a class or a record")
    check_own(found, origin)
    known = kind_of(request.kind or _told(found, request.description))
    suits(request, known)
    if not tried:
        return unasked(found, known, request, origin)
    return confirmed(found, known, request, origin, guard)


def record(target: Target, kind: str | None = None, **options: Any) -> Any:
    """The record of an ordinary program, plugged in as `options` of its kind say.

    kind: the kind of target, detected by default. options: those of the kind's own loader, as its
    `plug` says.
    Raises Unsuitable: an unknown kind, a record already, or no program of its kind.
    """
    found: Any = resolved(target) if isinstance(target, str) else target
    if is_record(found):
        raise Unsuitable(f"{found.name} is a record already")
    kind = kind or _told(found, None)
    if kind not in KINDS:
        raise unknown("kind", kind, KINDS)
    return KINDS[kind].load(found, **options)


def is_record(found: Any) -> bool:
    """Whether it is a record already, of whatever kind."""
    return not isinstance(found, Elsewhere) and kind_of_object(found) == "record"


def _told(found: Any, description: str | None) -> str:
    """The kind of subject that something callable is: by its look, or as it is described."""
    if description:
        return next(about for about, kind in KINDS.items() if kind.targets.described)
    return next(about for about, kind in reversed(KINDS.items()) if kind.targets.told(found))


def resolved(target: str) -> Any:
    """The object that a target names: `module:name`, `path/to/file.py:name`, `./program`.

    Raises Unsuitable.
    """
    if file_of(target):
        return far(target)
    place, name = parts_of(target)
    module = _from_file(place) if place.endswith(".py") else _imported(place)
    found: Any = module
    for part in (parts := name.split(".")):
        if not hasattr(found, part):
            likely = _likely(found, part, place, part == parts[-1])
            raise Unsuitable(f"{place} has no {name!r}{likely}")
        found = getattr(found, part)
    return found


def elsewhere(target: str, ending: Ending = USUAL) -> Any:
    """The object that a target names, found in a runner. Raises Unsuitable; what it raises."""
    if file_of(target):
        return far(target, ending)
    place, name = parts_of(target)
    try:
        return far(target, ending)
    except ModuleNotFoundError as error:
        raise _no_module(place, error) from None
    except Absent as reason:
        here = functions_of(target, os.getcwd())
        listed = f"; it has {', '.join(here)}" if 0 < len(here) <= NAMED else ""
        likely = hint(name.rpartition(".")[2], names_of(target, os.getcwd()))
        raise Unsuitable(f"{reason}{likely or listed}") from None


def _likely(owner: Any, part: str, place: str, last: bool) -> str:
    """A question that names the likeliest function or class there, or else all of a file.

    last: whether nothing is looked up inside of it, as a module of a package would be.
    """
    found = {x: getattr(owner, x, None) for x in dir(owner) if not x.startswith("__")}
    names = [x for x, y in found.items() if callable(y) or is_record(y) or not last]
    of_file = place.endswith(".py") and owner.__name__
    here = [x for x in names if getattr(found[x], "__module__", None) == of_file and x[0] != "_"]
    listed = f"; it has {', '.join(here)}" if 0 < len(here) <= NAMED else ""
    return hint(part, names) or listed


def _imported(name: str) -> ModuleType:
    if name not in sys.modules and not {os.getcwd(), ""} & {*sys.path}:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:
        raise _no_module(name, error) from None


def _no_module(name: str, error: BaseException) -> Unsuitable:
    """The error for a module that is not there, or that cannot be imported."""
    missing = isinstance(error, ModuleNotFoundError) and error.name
    if missing and f"{name}.".startswith(f"{missing}."):
        return Unsuitable(f"there is no module {name!r}{_hidden(missing) or installing(missing)}")
    return not_imported(name, error)


def _from_file(place: str) -> ModuleType:
    path = Path(place)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    folder = str(path.parent.resolve())  # from here: the file may go elsewhere
    sys.path.insert(0, folder)
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise not_imported(place, error) from None
    finally:
        with suppress(ValueError):
            sys.path.remove(folder)
    return module


def origin_of(target: Target) -> str:
    """How a person imports a target, where it can be."""
    if isinstance(target, str):
        return target
    if isinstance(target, Elsewhere):
        return target.target
    if is_record(target):
        return str(target.origin)  # type: ignore[union-attr]
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", "")
    return f"{module}:{name}" if module and name.isidentifier() else ""


def importable(target: Target) -> str | None:
    """The name by which another process can import a target; None if there is none."""
    if isinstance(target, str):
        return target
    name = "" if is_record(target) else origin_of(target)
    place, _, what = name.partition(":")
    if place == "__main__" or getattr(sys.modules.get(place), what, None) is not target:
        return None
    return name


def imported(request: Request, ending: Ending = USUAL) -> Any:
    """The object that a target names, here or in a runner, as the request says.

    Raises Unsuitable, whatever the target raises; Interfered.
    """
    target = request.target
    try:
        return elsewhere(target, ending) if request.apart else resolved(target)
    except (Unsuitable, Interfered, Ended):
        raise
    except BaseException as error:  # an interrupt among them: nobody interrupts this process
        place, _, _ = target.rpartition(":")
        raise not_imported(place or target, error) from None


def not_imported(place: str, error: BaseException) -> Unsuitable:
    """The error for a module that raises an exception when it is imported."""
    said = f"{place} cannot be imported: {type(error).__name__}: {first_line(error)}"
    missing = isinstance(error, ModuleNotFoundError) and error.name
    return Unsuitable(f"{said}{_hidden(missing) if missing else ''}")


def _hidden(missing: str) -> str:
    """What to type for a module of theirs, in a package of the name that this one has."""
    if COMMAND == INSTALLED or not missing.startswith(f"{NAME}."):
        return ""
    return f": here {NAME!r} is the specification; for another {NAME!r}, start `{INSTALLED}`"
