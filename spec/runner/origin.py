"""The installed packages that a target is made of, and the files that it has loaded."""

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

INSTALLED = {"site-packages", "dist-packages"}
MOST = 100  # packages, or files
LONG = 60_000  # letters of the paths of all files
PYTHON = tuple(os.path.realpath(sysconfig.get_path(x)) for x in ("stdlib", "platstdlib"))
OWN = (*PYTHON, os.path.dirname(os.path.realpath(__file__)))  # whose files are no target's


def packages(target: Any) -> list[str]:
    """The installed packages that the module of a target has functions, classes or modules of."""
    return made_of(sys.modules.get(getattr(target, "__module__", None) or ""))[:MOST]


def files() -> list[str]:
    """The files of the modules that are loaded, but for those of packages and of Python."""
    named = (getattr(module, "__file__", None) or "" for module in [*sys.modules.values()])
    places = {os.path.realpath(x) for x in named if isinstance(x, str) and os.path.isfile(x)}
    found = sorted(x for x in places if not INSTALLED & {*Path(x).parts} and not _own(x))[:MOST]
    return found if sum(map(len, found)) < LONG else []


def _own(path: str) -> bool:
    return any(path.startswith(f"{place}{os.sep}") for place in OWN)


def made_of(module: ModuleType | None) -> list[str]:
    """The same of a module."""
    tops = dict.fromkeys(home.partition(".")[0] for home in _homes(module) if home)
    return [top for top in tops if _installed(top)]


def _homes(module: ModuleType | None) -> Iterator[str]:
    """Yield the names of a module, and of the modules that define its contents."""
    if module is None:
        return
    yield module.__name__
    for x in [*vars(module).values()]:
        if isinstance(x, ModuleType):
            yield x.__name__
        elif isinstance(x, (type, FunctionType)):
            yield str(x.__module__)


def _installed(top: str) -> bool:
    package = sys.modules.get(top)
    paths = [getattr(package, "__file__", None) or "", *getattr(package, "__path__", ())]
    return any(INSTALLED & {*Path(path).parts} for path in paths)
