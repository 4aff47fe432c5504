"""Where a target is defined: its file, and the line on which it begins."""

import inspect
import os
from contextlib import suppress
from pathlib import Path

from spec.backends.elsewhere import home
from spec.certification.target.versions import INSTALLED
from spec.subject import named


def defined(origin: str) -> tuple[Path, int] | None:
    """The file of what an origin names, and its first line, from 1; None if they are not known.

    origin: `module:name` or `path/to/file.py:name`, of a module that has been imported.
    """
    with suppress(Exception):  # a target answers as it likes
        found = inspect.unwrap(named(origin))
        file = inspect.getsourcefile(found)
        if file is not None and os.path.isfile(file):
            return Path(file), max(1, inspect.getsourcelines(found)[1])
    return None


def source_of(origin: str) -> str:
    """The same as `file:line`, or "": relative to the working directory, or to site-packages."""
    if (there := home()) is not None:
        return there.source
    found = defined(origin)
    if found is None:
        return ""
    file, here = Path(os.path.abspath(found[0])), Path.cwd()
    packages = next((x for x in file.parents if x.name in INSTALLED), None)
    inside = packages or (here if file.is_relative_to(here) else None)
    return f"{(file.relative_to(inside) if inside else file).as_posix()}:{found[1]}"
