"""From what a person names to an implementation.

A target is `module:name`, `path/to/file.py:name`, a function, or an
`Implementation`. Whatever is wrong with it is said in one line (`Unsuitable`).
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from spec.backends import Unsuitable, implementation, inferred
from spec.backends.results import WrongArray
from spec.certification.deviations import known
from spec.certification.probing import core
from spec.certification.settings import Request
from spec.clause import Violation
from spec.implementation import Implementation, Refused
from spec.notation import DTYPES

Target = str | Callable[..., Any] | Implementation
Guarded = Callable[[Implementation], Implementation]


def load(
    target: Target, request: Request, guard: Guarded = lambda record: record
) -> Implementation:
    """The implementation that `target` names, on the request's backend and device.

    guard: what an implementation is seen through where it is tried out.
    Raises Unsuitable: nothing of that name, nothing that is called as attention
    is, or a result on a first small problem that is no attention output.
    """
    found = resolved(target) if isinstance(target, str) else target
    origin = origin_of(target)
    return _with_known_deviations(_loaded(found, request, origin, guard), request.device)


def _with_known_deviations(record: Implementation, device: str) -> Implementation:
    return record.but(deviations={**known(record.origin, device), **record.deviations})


def _loaded(found: Any, request: Request, origin: str, guard: Guarded) -> Implementation:
    if isinstance(found, Implementation):
        return found.but(origin=found.origin or origin, dtypes=request.dtypes or found.dtypes)
    if inspect.isclass(found):
        raise Unsuitable(f"{origin or found!r} is a class, and layers are not judged yet")
    if not callable(found):
        raise Unsuitable(f"{origin} is of type {type(found).__name__}, not a function")
    return _confirmed(found, request, origin, guard)


def resolved(target: str) -> Any:
    """The object that `module:name` or `path/to/file.py:name` names. Raises Unsuitable."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise Unsuitable(f"{target!r} is no target: write module:name or path/to/file.py:name")
    module = _from_file(place) if place.endswith(".py") else _imported(place)
    found: Any = module
    for part in name.split("."):
        if not hasattr(found, part):
            raise Unsuitable(f"{place} has no {name!r}")
        found = getattr(found, part)
    return found


def _imported(name: str) -> ModuleType:
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(error.name + ".")):
            raise Unsuitable(f"there is no module {name!r}") from None
        raise Unsuitable(f"{name} cannot be imported: {_first_line(error)}") from None
    except Exception as error:
        raise Unsuitable(f"{name} cannot be imported: {_first_line(error)}") from None


def _from_file(place: str) -> ModuleType:
    path = Path(place)
    if not path.is_file():
        raise Unsuitable(f"there is no file {place!r}")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules.setdefault(path.stem, module)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise Unsuitable(f"{place} cannot be imported: {_first_line(error)}") from None
    finally:
        sys.path.remove(str(path.parent.resolve()))
    return module


def _confirmed(
    function: Callable[..., Any], request: Request, origin: str, guard: Guarded
) -> Implementation:
    """The function on the first of its likely backends that gets an answer out of it."""
    candidates = (request.backend,) if request.backend else inferred(function)
    complaints = []
    for backend in candidates:
        record = implementation(
            function,
            backend=backend,
            layout=request.layout,
            device=request.device,
            dtypes=request.dtypes,
            origin=origin,
        )
        complaint = _complaint(guard(record))
        if complaint is None:
            return record
        complaints.append(complaint)
    raise Unsuitable(complaints[0])


def _complaint(record: Implementation) -> str | None:
    """Why a record gives no answer to a small problem of the core in any dtype, if it does not."""
    complaint = None
    for dtype in sorted(record.dtypes, key=DTYPES.index):
        try:
            record.forward(core(dtype))
        except WrongArray as violation:
            return f"{record.name} is no attention function: {violation}"
        except Violation:
            return None
        except Refused as refusal:
            complaint = complaint or f"{record.name} answers no problem: {refusal}"
        else:
            return None
    return complaint


def origin_of(target: Target) -> str:
    """How a person imports a target, where it can be."""
    if isinstance(target, str):
        return target
    if isinstance(target, Implementation) and target.origin:
        return target.origin
    module, name = getattr(target, "__module__", None), getattr(target, "__qualname__", "")
    return f"{module}:{name}" if module and name.isidentifier() else ""


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
