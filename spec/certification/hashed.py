"""Hashes of the files that a grade is about: those of the target, and of all that it has loaded.

The judge reads them before the target is loaded and once more at the end. A target says by itself
which files it has loaded, so all Python files of its folder are hashed as well.
"""

import hashlib
import os
import platform
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from spec.certification.target.versions import INSTALLED

MOST = 2000  # files of a folder
LARGE = 64 << 20  # bytes of a file that is hashed
SPARED = ("__pycache__", "node_modules")


def sha256(path: Path) -> str:
    """The hash of a file; "" of what is no file, is too large, or cannot be read."""
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with os.fdopen(handle, "rb") as file:
            found = os.fstat(handle)
            if stat.S_ISREG(found.st_mode) and found.st_size <= LARGE:
                return hashlib.sha256(file.read(LARGE + 1)).hexdigest()
    return ""


def of_folder(target: str, folder: str) -> Mapping[str, str]:
    """The hash of each Python file in the folder of a target, by its path there.

    A target that is installed, or that has no file, has none: its version says what it is.
    """
    place = target.rpartition(":")[0]
    home = Path(folder, place).parent if place.endswith(".py") else Path(folder)
    named = place.endswith(".py") or any(Path(folder, x).exists() for x in _files(place))
    paths = _python(home.resolve()) if named else ()
    return {path.relative_to(home.resolve()).as_posix(): sha256(path) for path in paths}


def _files(module: str) -> Iterator[str]:
    """The first file or folder of a module, as it would be named in its folder."""
    top = module.partition(".")[0]
    yield from (f"{top}.py", f"{top}/__init__.py", top)


def _python(home: Path) -> Iterator[Path]:
    count = 0
    for folder, inner, files in os.walk(home):
        inner[:] = sorted(x for x in inner if not x.startswith(".") and x not in SPARED)
        if INSTALLED & {*Path(folder).parts}:
            inner.clear()
            continue
        for name in sorted(x for x in files if x.endswith(".py")):
            count += 1
            if count > MOST:
                return
            yield Path(folder, name)


def together(hashes: Mapping[str, str]) -> str:
    """One hash of several files: of the lines "HASH  PATH", sorted, as `sha256sum` prints them."""
    lines = sorted(f"{told}  {path}\n" for path, told in hashes.items())
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def of_files(paths: Iterable[str]) -> Mapping[str, str]:
    """The hashes of some files."""
    return {path: sha256(Path(path)) for path in paths}


def environment() -> str:
    """The hash of the version of Python, of the machine, and of each distribution."""
    known = {f"{x.metadata['Name']} {x.version}" for x in metadata.distributions()}
    lines = [f"python {platform.python_version()}", platform.platform(), *sorted(known)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
