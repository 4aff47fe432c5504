"""Where a target comes from: its file and line, and the packages that it is made of."""

import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

INSTALLED = {"site-packages", "dist-packages"}
MOST = 100  # packages


def source_of(target: Any) -> str:
    """`file:line`, or "": relative to the working directory, or to site-packages."""
    with suppress(Exception):  # a target answers as it likes
        found = inspect.unwrap(target)
        file = Path(os.path.abspath(inspect.getsourcefile(found) or ""))
        line = max(1, inspect.getsourcelines(found)[1])
        inside = next((x for x in file.parents if x.name in INSTALLED), None)
        inside = inside or (Path.cwd() if file.is_relative_to(Path.cwd()) else None)
        return f"{(file.relative_to(inside) if inside else file).as_posix()}:{line}"
    return ""


def packages(target: Any) -> list[str]:
    """The installed packages that the module of a target has functions, classes or modules of."""
    module = sys.modules.get(getattr(target, "__module__", None) or "")
    tops = dict.fromkeys(home.partition(".")[0] for home in _homes(module) if home)
    return [top for top in tops if _installed(top)][:MOST]


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
