"""Versions: of Python and libraries, and of the distributions that a target is made of."""

import platform
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import metadata
from pathlib import Path

from spec.backends import NAMES
from spec.backends.elsewhere import home
from spec.runner import origin as origin_of
from spec.runner.gpu import at_work
from spec.runner.origin import INSTALLED as INSTALLED

GPU = "gpu"


def versions_of(origin: str = "") -> Mapping[str, str]:
    """The versions of NumPy, of loaded backends, and of the target's distributions.

    If torch uses a GPU, that is named too.
    """
    loaded = [name for name in ("numpy", *NAMES) if name in sys.modules]
    gpu, made = at_work(), made_of(origin)
    if (there := home()) is not None:
        told = there.loaded()
        loaded, gpu = ["numpy", *(x for x in told["libraries"] if x in NAMES)], told["gpu"]
        made = _named(told["packages"])
    return {**versions([*loaded, *made]), **({GPU: gpu} if gpu else {})}


def versions(names: Iterable[str]) -> Mapping[str, str]:
    """The versions of Python and of the libraries named, and the machine."""
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

    origin: as a user imports it. A distribution has the name for installing it: `dm-haiku`.
    """
    place, _, _ = origin.rpartition(":")
    module = sys.modules.get(Path(place).stem if place.endswith(".py") else place)
    return _named(origin_of.made_of(module))


def installed(top: str, file: Path) -> tuple[str, ...]:
    """The distribution, and its version, that has a package and a file of it; else empty."""
    if not INSTALLED & {*file.parts}:
        return ()
    return tuple(f"{name} {_version(name)}" for name in _by_name(top)[:1])


def _named(packages: Iterable[str]) -> tuple[str, ...]:
    """The distributions that have these packages."""
    return (*dict.fromkeys(found for top in packages for found in _by_name(top)),)


def _by_name(top: str) -> tuple[str, ...]:
    """The distributions with a package of this name; mostly they have the same name."""
    try:
        return (metadata.distribution(top).name,)
    except metadata.PackageNotFoundError:
        return _by_package().get(top, ())


@cache
def _by_package() -> dict[str, tuple[str, ...]]:
    """The distributions of each package, which takes a look at all of them."""
    return {x: (*dict.fromkeys(y),) for x, y in metadata.packages_distributions().items()}
