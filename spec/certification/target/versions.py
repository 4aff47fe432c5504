"""Versions: of Python and its libraries, and of what else a target is made of."""

import platform
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path
from types import FunctionType, ModuleType

from spec.backends import NAMES
from spec.backends.gpu import at_work

INSTALLED = {"site-packages", "dist-packages"}
GPU = "gpu"


def versions_of(origin: str = "") -> Mapping[str, str]:
    """Those of NumPy, of the backends that were loaded, and of what a target is made of.

    Where torch has a GPU at work, that is named as well.
    """
    loaded = [name for name in ("numpy", *NAMES) if name in sys.modules]
    gpu = at_work()
    return {**versions([*loaded, *made_of(origin)]), **({GPU: gpu} if gpu else {})}


def versions(names: Iterable[str]) -> Mapping[str, str]:
    """Those of Python and of the libraries named, and the machine."""
    machine = f"{platform.system()} {platform.machine()}"
    ours = {"python": platform.python_version(), "platform": machine}
    libraries = {name: _version(name) for name in dict.fromkeys(names) if name not in ours}
    return {"python": ours["python"], **libraries, "platform": machine}


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:  # as where others judge
        return "none"


def made_of(origin: str) -> tuple[str, ...]:
    """The distributions from which the module of a target has modules, classes and functions.

    origin: as a person imports it. A distribution is named as packages are installed: `dm-haiku`.
    """
    place, _, _ = origin.rpartition(":")
    module = sys.modules.get(Path(place).stem if place.endswith(".py") else place)
    tops = dict.fromkeys(home.partition(".")[0] for home in _homes(module) if home)
    return (*dict.fromkeys(found for top in tops for found in _distributions(top)),)


def _homes(module: ModuleType | None) -> Iterator[str]:
    """The names of a module itself, and of those where what it has was written."""
    if module is None:
        return
    yield module.__name__
    for x in [*vars(module).values()]:
        if isinstance(x, ModuleType):
            yield x.__name__
        elif isinstance(x, (type, FunctionType)):
            yield str(x.__module__)


def installed(top: str, file: Path) -> tuple[str, ...]:
    """The distribution, and its version, that brought a package and a file of it, if one did."""
    if not INSTALLED & {*file.parts}:
        return ()
    return tuple(f"{name} {_version(name)}" for name in _by_name(top)[:1])


def _distributions(top: str) -> tuple[str, ...]:
    """Those that brought a package, if it was installed."""
    package = sys.modules.get(top)
    paths = [getattr(package, "__file__", None) or "", *getattr(package, "__path__", ())]
    if not any(INSTALLED & {*Path(path).parts} for path in paths):
        return ()
    return _by_name(top)


def _by_name(top: str) -> tuple[str, ...]:
    """Those that brought a package of this name: most have it themselves."""
    try:
        return (metadata.distribution(top).name,)
    except metadata.PackageNotFoundError:
        return _by_package().get(top, ())


@cache
def _by_package() -> dict[str, tuple[str, ...]]:
    """The distributions that brought each package, which takes a look at all of them."""
    return {x: (*dict.fromkeys(y),) for x, y in metadata.packages_distributions().items()}
