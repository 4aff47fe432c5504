"""Problems of any kind as data (sizes, options and arrays) and as source text.

A problem is a frozen dataclass of arrays and options. One field may be such a record itself, like
the parameters of a layer.
"""

import site
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

import numpy as np

from spec.notation import Array, Length
from spec.runner.foreign import parted

PACKAGE = __name__.rpartition(".")[0]  # `spec`, or what it is called where it is installed
LONG = 40  # an array of longer runs of equal numbers, on average, is not written out

# Source text for scripts in each library; then the comparison of `got` and `want`.
IMPORTS = {"numpy": [], "torch": ["import torch"], "jax": ["import jax", "import jax.numpy as jnp"]}
MADE = {
    "numpy": ("np.array", "np"),
    "torch": ("torch.tensor", "torch"),
    "jax": ("jnp.array", "jnp"),
}
NUMBERS = {
    "numpy": "np.asarray({}, dtype=float)",
    "torch": "{}.detach().cpu().double().numpy()",
    "jax": "np.asarray({}, dtype=float)",
}


def arrays(problem: Any) -> dict[str, Array]:
    """The arrays of a problem by name, including those of a record inside it."""
    found: dict[str, Array] = {}
    for name, x in values(problem):
        if isinstance(x, np.ndarray):
            found[name] = x
        elif is_dataclass(x):
            found |= arrays(x)
    return found


def sizes(problem: Any) -> dict[str, int]:
    """The lengths of its axes, by letter."""
    return {letter: getattr(problem, letter) for letter in letters(problem.__class__)}


def options(problem: Any) -> dict[str, Any]:
    """The fields of a problem that are not arrays and differ from their defaults."""
    found = {}
    for field in fields(problem):
        x = getattr(problem, field.name)
        default = None if field.default is MISSING else field.default
        plain = not isinstance(x, np.ndarray) and not is_dataclass(x)
        if plain and field.name not in problem.shown_elsewhere and x != default:
            found[field.name] = x
    return found


def in_a_line(problem: Any) -> str:
    """A problem in a line, enough to recognise it: sizes, options, dtype."""
    kind, words = problem.__class__, []
    for name, default in optional(kind):
        x = getattr(problem, name)
        if isinstance(x, np.ndarray):
            words.append(f"{'boolean ' * (x.dtype.kind == 'b')}{name} {x.shape}")
        elif x != default:
            words.append(name if x is True else f"{name}={x}")
    lengths = " ".join([f"{letter}={getattr(problem, letter)}" for letter in letters(kind)])
    return ", ".join([lengths, *words, problem.dtype])


def literal(x: Array, make: str = "np.array", options: Sequence[str] = ()) -> str:
    """An array as source text: of float64, int or bool, unless `options` give another dtype.

    A long array of few runs of equal numbers is built by NumPy.
    """
    kind = {"b": "bool", "i": "int"}.get(x.dtype.kind, "float")
    flat = x.astype(kind).reshape(-1)
    starts = run_starts(flat)
    words = str(x.astype(kind).tolist())
    if LONG * len(starts) < x.size:
        runs = np.diff(starts, append=x.size).tolist()
        made = f"repeat({flat[starts].tolist()}, {runs}).reshape({x.shape})"
        words = f"np.{made}" if len(runs) > 1 else f"np.full({x.shape}, {flat[0]})"
    if _is_identity(x):
        words = f"np.broadcast_to(np.eye({x.shape[-1]}), {x.shape})"
    words = words.replace("inf", "np.inf").replace("nan", "np.nan")
    text = f"{make}({', '.join([words, *(options or [f'dtype={kind}'])])})"
    return text if x.size else f"{text}.reshape({x.shape})"


def run_starts(flat: Array) -> Array:
    """The indices at which runs of equal numbers begin; -0.0 and 0.0 are different here."""
    same = (flat[1:] == flat[:-1]) & (np.signbit(flat[1:]) == np.signbit(flat[:-1]))
    return np.flatnonzero(np.concatenate([[True], ~same])[: flat.size])


def _is_identity(x: Array) -> bool:
    """Whether an array consists of identity matrices and is too long to be read."""
    square = x.ndim > 1 and x.shape[-1] == x.shape[-2] and x.size > LONG
    return square and x.dtype.kind == "f" and bool((x == np.eye(x.shape[-1])).all())


def source(problem: Any, indent: str = "", variable: str = "") -> list[str]:
    """The lines that build the problem, as a variable, once its classes are imported.

    Options that have their default value are left out.
    """
    made = f"{type(problem).__name__}("
    lines = [f"{variable} = {made}" if variable else made]
    usual = {field.name: field.default for field in fields(problem)}
    for name, x in values(problem):
        plain = not isinstance(x, np.ndarray) and not is_dataclass(x)
        if plain and name != "dtype" and x == usual[name]:
            continue
        if is_dataclass(x):
            first, *rest = source(x, indent + "    ")
            lines += [f"{indent}    {name}={first}", *rest[:-1], f"{rest[-1]},"]
        elif isinstance(x, np.ndarray):
            lines.append(f"{indent}    {name}={literal(x)},")
        else:
            lines.append(f"{indent}    {name}={x!r},")
    return [*lines, f"{indent})"]


def found_from(place: str) -> list[str]:
    """The lines that let Python find a file or a module from any directory, as it does here."""
    if place.endswith(".py"):
        folder = Path(place).resolve().parent
    else:
        name = place.partition(".")[0]
        top = sys.modules.get(name)
        paths = [*getattr(top, "__path__", ()), getattr(top, "__file__", None)]
        paths = paths if top is not None else _unloaded(name)
        if not paths[0]:
            return []
        folder = Path(paths[0]).resolve().parent
        if folder.name == name != Path(paths[0]).stem:  # its code is in an inner folder, as ours
            folder = folder.parent
        if folder in installed():
            return []
    return ["import sys", f"sys.path.insert(0, {str(folder)!r})"]


def _unloaded(name: str) -> list[str | None]:
    """Where a module is that this process has not imported, as a target in another one."""
    found = PathFinder.find_spec(name, [str(Path.cwd()), *sys.path])
    return [*((found and found.submodule_search_locations) or ()), found and found.origin]


def array_of(library: str, x: Array, dtype: str, device: str = "cpu") -> str:
    """An array of a library, with the numbers of `x`, as source text."""
    make, module = MADE[library]
    placed = [f"device={device!r}"] if library == "torch" and device != "cpu" else []
    return literal(x, make, [f"dtype={module}.{dtype}", *placed])


def imported(origin: str, libraries: Sequence[str]) -> list[str]:
    """The lines that import the object at `origin`, NumPy and other libraries."""
    place, _, name = origin.rpartition(":")
    if parted(origin):
        return [*found_from(PACKAGE), "import numpy as np", *started(place, name)]
    lines = [*found_from(place), "import numpy as np", *libraries]
    place = Path(place).stem if place.endswith(".py") else place
    return [*lines, f"from {place} import {name.split('.')[0]}", "", 'np.seterr(all="ignore")']


def started(place: str, name: str) -> list[str]:
    """The lines that make a target in another language a function."""
    found = str(Path(place).resolve())
    make = f"from {PACKAGE}.runner.foreign import foreign"
    return [make, "", f"{name} = foreign({f'{found}:{name}'!r})", 'np.seterr(all="ignore")']


@cache
def installed() -> frozenset[Path]:
    """The folders that Python searches for modules by itself."""
    folders = (*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages())
    return frozenset(Path(folder).resolve() for folder in folders)


def classes(problem: Any) -> list[str]:
    """The classes that `source` names, that of the problem first."""
    inside = [type(x).__name__ for _, x in values(problem) if is_dataclass(x)]
    return [type(problem).__name__, *inside]


@cache
def letters(kind: type) -> tuple[str, ...]:
    """The names of the axes of a class of problems."""
    lengths = (n for n, x in vars(kind).items() if isinstance(x, Length | property))
    return tuple(name for name in lengths if len(name) == 1 and name.isupper())


@cache
def optional(kind: Any) -> tuple[tuple[str, Any], ...]:
    """The options of a class of problems by name, each with its default."""
    left = {*kind.shown_elsewhere, "seed"}
    optional = (f for f in fields(kind) if f.default is not MISSING and f.name not in left)
    return tuple((f.name, f.default) for f in optional)


def values(problem: Any) -> Iterator[tuple[str, Any]]:
    """All fields of a problem, by name."""
    return ((field.name, getattr(problem, field.name)) for field in fields(problem))
