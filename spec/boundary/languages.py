"""Targets in other languages, as a judge knows them: by the file that a person names."""

import os
from pathlib import Path

from spec.backends.library import Unsuitable
from spec.runner.foreign import is_library, parted

SOURCES = (".c", ".cc", ".cpp", ".cu", ".cxx", ".f90", ".go", ".h", ".rs", ".swift", ".zig")
PAGE = "docs/languages.md"


def usable(target: str) -> None:
    """Raise Unsuitable if a target in another language is no file that can be run, or loaded."""
    if (there := parted(target)) is None:
        return
    place, _ = there
    if os.path.isdir(place):
        raise Unsuitable(
            f"{place} is a folder: name a file in it and what to check, as FILE.py:NAME"
        )
    if not os.path.exists(place):
        raise Unsuitable(f"there is no file {place!r}")
    if Path(place).suffix in SOURCES:
        how = f"compile it, and name the program or the library ({PAGE})"
        raise Unsuitable(f"{place} is source text: {how}")
    if not is_library(place) and not os.access(place, os.X_OK):
        raise Unsuitable(f"{place} is not executable: type `chmod +x {place}` ({PAGE})")


def file_of(target: str) -> Path | None:
    """The program or the library that a target names; None for targets of Python."""
    there = parted(target)
    return Path(there[0]) if there else None
