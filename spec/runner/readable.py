"""The files that a target may read: the system's libraries, Python, its packages, and its own.

Landlock allows whole folders and can take nothing out of one. Where the specification lies below a
folder, the entries of that folder are allowed one by one, and of itself only the list of names.
"""

import glob
import importlib.util
import os
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from .foreign import interpreter, parted
from .landlock import ALL, READ, READ_FOLDER, USE

Allowed = tuple[str, Sequence[int] | int]

SYSTEM = ("/usr", "/lib", "/lib32", "/lib64", "/bin", "/sbin", "/opt", "/nix/store")
LINKER = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives")
PEOPLE = ("group", "passwd", "nsswitch.conf", "hosts", "os-release", "fonts", "ssl/openssl.cnf")
TIMES = ("localtime", "timezone", "locale.alias")
FACTS = ("self", "cpuinfo", "meminfo", "stat", "loadavg", "version", "filesystems", "devices")
TOLD = ("sys", "driver/nvidia")
MACHINE = ("devices", "bus/pci", "class/kfd", "class/drm", "fs/cgroup", "kernel/mm", "module")
DEVICES = ("null", "zero", "full", "random", "urandom", "nvidia*", "kfd", "dri")
SPARED = ("/proc", "/sys", "/dev", "/run", "/boot")  # never allowed as parts of a larger folder
OURS = ("attention_spec", "spec", "build", "dist", ".git", ".tox", ".nox")
LIBRARIES = "LD_LIBRARY_PATH"

SPECIFICATION = Path(__file__).resolve().parents[1]
PYTHON = os.path.realpath(sys.prefix)  # also where it lies in the .tox of the specification


def allowed(target: str, folder: str, *own: str) -> Iterator[Allowed]:
    """The paths that a runner may open, and how. own: the folders that it may write in."""
    yield from common()
    for place in (*sys.path, *_places(target, folder)):
        yield from _opened(os.path.realpath(place), _hidden())
    yield from ((place, ALL) for place in dict.fromkeys(own))


@cache
def common() -> tuple[Allowed, ...]:
    """The paths of all targets. The process that is copied for each runner lists them."""
    return tuple(dict.fromkeys(_common()))


def _common() -> Iterator[Allowed]:
    yield from _opened(PYTHON, {x for x in _hidden() if not _below(PYTHON, x)})
    for place in dict.fromkeys(os.path.realpath(x) for x in (*SYSTEM, *_python()) if x):
        yield from _opened(place, _hidden())
    yield from ((str(SPECIFICATION / name), READ) for name in ("runner", "adapters"))
    yield from ((f"/etc/{name}", READ) for name in (*LINKER, *PEOPLE, *TIMES))
    yield from ((f"/proc/{name}", READ) for name in (*FACTS, *TOLD))
    yield from ((f"/sys/{name}", READ) for name in MACHINE)
    for name in DEVICES:
        yield from ((path, (*USE, READ_FOLDER)) for path in glob.glob(f"/dev/{name}"))


def _python() -> Iterator[str]:
    """Where Python and its packages are, besides the environment that runs."""
    yield from (sys.base_prefix, sys.exec_prefix, *sys.path)
    yield from os.environ.get(LIBRARIES, "").split(":")
    for name, module in [*sys.modules.items()]:  # packages that lie where they are written
        if name.startswith("__editable__"):
            known: Mapping[str, str] = getattr(module, "MAPPING", {})
            yield from (place for package, place in known.items() if package not in OURS)


def _places(target: str, folder: str) -> Iterator[str]:
    """Where the target is: beside its file, or where its package is found."""
    if there := parted(target):
        yield str(Path(there[0]).resolve().parent)
        yield from interpreter(there[0])
        return
    place, _, _ = target.rpartition(":")
    if place.endswith(".py"):
        yield str(Path(place).resolve().parent)
        return
    yield folder
    with suppress(ImportError, ValueError, AttributeError):
        found = importlib.util.find_spec(place.partition(".")[0])
        yield from (found and found.submodule_search_locations) or ()


@cache
def _hidden() -> frozenset[str]:
    """The folders that nobody may read: the specification, also as it is installed or built."""
    beside = (SPECIFICATION, *(SPECIFICATION.parent / name for name in OURS))
    installed = (Path(place).resolve() / name for place in sys.path for name in OURS[:2])
    ours = (x for x in installed if x.name == OURS[0] or os.path.exists(x / "runner/readable.py"))
    return frozenset(str(x) for x in (*beside, *ours) if os.path.exists(x)) | {*SPARED}


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _opened(path: str, hidden: Collection[str]) -> Iterator[Allowed]:
    """A file or a folder, without what is hidden."""
    if any(_below(path, one) for one in hidden):
        return
    below = [one for one in hidden if _below(one, path)]
    if not below:
        yield path, READ
        return
    yield path, (READ_FOLDER,)
    with suppress(OSError), os.scandir(path) as entries:
        for entry in entries:
            if not entry.is_symlink():
                yield from _opened(entry.path, below)
