"""The object that a target's name means, and what it says of itself as data."""

import importlib
import importlib.util
import inspect
import math
import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder, SourceLoader
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from .contests import adapted, ready
from .errors import LINE, Absent
from .foreign import foreign, formats_of, parted
from .inference import inferred
from .objects import DEEPEST, FAR, kind_of
from .parameters import bound, name_of, parameters_of

OURS = ("spec", "attention_spec")  # the specification, in its repository and installed
SPEC = Path(__file__).resolve().parents[1]
OWN = {SPEC, SPEC.parent, SPEC.parent / "attention_spec"}
PLAIN = (type(None), bool, int, float)
FEW = 16  # of what a default holds
BASES = 8  # classes that a class inherits from, which are named


class Hidden(MetaPathFinder):
    """Refuses to import the specification, which no target needs; another `spec` is found."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raise ImportError for the specification, by either of its names."""
        del target
        known = PathFinder.find_spec(name, path) if name in OURS else None
        if known and known.origin and Path(known.origin).resolve().parent in OWN:
            why = "which no target imports under --isolation process"
            raise ImportError(f"{name!r} is the specification, {why}")
        return None


def found(target: str, folder: str) -> Any:
    """The object that a target names (`foreign`, or of a module). Raises what importing raises."""
    if parted(target):
        return foreign(target)
    place, _, name = target.rpartition(":")
    sys.meta_path.insert(0, Hidden())
    home = str(Path(place).parent) if place.endswith(".py") else folder
    ready(name, home)
    one = module = _from_file(place) if place.endswith(".py") else _imported(place, folder)
    for part in name.split("."):
        if not hasattr(one, part):
            raise Absent(f"{place} has no {name!r}")
        one = getattr(one, part)
    return adapted(one, name, vars(module), home)


def _imported(name: str, folder: str) -> ModuleType:
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def _from_file(place: str) -> ModuleType:
    path = Path(place)
    told = importlib.util.spec_from_file_location(path.stem, path)
    assert told is not None
    assert told.loader is not None
    module = importlib.util.module_from_spec(told)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules.setdefault(path.stem, module)
    # Not from a file of bytes that may lie beside it, of which nobody has the hash.
    assert isinstance(told.loader, SourceLoader)
    code = told.loader.source_to_code(path.read_bytes(), str(path))
    exec(code, vars(module))
    return module


def described(one: Any) -> dict[str, Any]:
    """The names of an object, its parameters, and the libraries it is written for."""
    return {
        "name": name_of(one)[:LINE],
        "qualname": str(getattr(one, "__qualname__", ""))[:LINE],
        "module": str(getattr(one, "__module__", None) or "")[:LINE],
        "kind": kind_of(one),
        "type": f"{type(one).__module__}.{type(one).__qualname__}",
        "parameters": listed(one) if callable(one) else "it is no function",
        "bound": bound(one),
        "traits": traits(one),
        "bases": bases(one),
        "threads": len(os.listdir("/proc/self/task")) if sys.platform == "linux" else 0,
        "line": ((getattr(one, "__doc__", None) or "").splitlines() or [""])[0][:LINE],
        "libraries": inferred(one) if callable(one) else (),
        "formats": [*formats_of(one)],
    }


def names_of(target: Any) -> dict[str, Any]:
    """The names of the module that a class, a function or an object stands in, its own included.

    Of a class, also those of the modules of its bases. The name of a base stands for the class, so
    that an expression which builds the base builds the class.
    """
    target = target if hasattr(target, "__qualname__") else type(target)
    inner = [x for x in vars(target).values() if inspect.isfunction(x)]
    function = next((x for x in (target, *inner) if inspect.isfunction(x)), None)
    every = [x for x in getattr(target, "__mro__", [target]) if x is not object]
    found: dict[str, Any] = {}
    for one in reversed(every):
        found |= vars(sys.modules[one.__module__]) if one.__module__ in sys.modules else {}
    found |= function.__globals__ if function else {}
    return found | {one.__name__: target for one in every}


def traits(one: Any) -> list[str]:
    """The traits of a class: "called" if its objects can be, "autograd" if autograd has it."""
    if not isinstance(one, type):
        return []
    bases = one.__mro__
    called = any("forward" in vars(x) or "__call__" in vars(x) for x in bases)
    autograd = any(x.__name__ == "Function" and "autograd" in x.__module__ for x in bases)
    return ["called"] * called + ["autograd"] * autograd


def bases(one: Any) -> list[str]:
    """The classes that a class inherits from, the nearest first, as `module:name`."""
    every = one.__mro__[1 : 1 + BASES] if isinstance(one, type) else ()
    return [f"{x.__module__}:{x.__qualname__}"[:LINE] for x in every]


def listed(one: Any) -> list[dict[str, Any]] | str:
    """Its parameters as data; or, where it does not tell them, the reason."""
    try:
        return [_parameter(x) for x in parameters_of(one).values()]
    except ValueError as reason:
        return str(reason)


def _parameter(x: inspect.Parameter) -> dict[str, Any]:
    told: dict[str, Any] = {"name": x.name, "kind": x.kind.name}
    if x.default is not x.empty:
        told["default"] = default(x.default)
    return told


def default(x: Any, depth: int = 0) -> Any:
    """The default of a parameter as a value of an answer (`objects`); {} for what has none."""
    if type(x) is float and not math.isfinite(x):
        return {"f": repr(x)}
    if type(x) is str:
        return x[:LINE]
    if type(x) in PLAIN and not (type(x) is int and abs(x) > FAR):
        return x
    if type(x) in (tuple, list) and len(x) <= FEW and depth < DEEPEST:
        return {"t" if type(x) is tuple else "l": [default(y, depth + 1) for y in x]}
    return {}
