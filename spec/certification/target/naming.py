"""The two parts of a target's name, and what to type in place of a name that has none."""

import os
from pathlib import Path

from spec.backends import Unsuitable
from spec.boundary.importing import functions_of

NAMED = 8  # functions and classes of a file, at most, in an error


def parts_of(target: str) -> tuple[str, str]:
    """The module, or the file, and the name in it. Raises Unsuitable: it is no such target."""
    place, colon, name = target.rpartition(":")
    if not colon or not place or not name:
        raise Unsuitable(_unnamed(target))
    if (os.sep in place or place.startswith(".")) and Path(place).is_dir():
        raise Unsuitable(_unnamed(place))
    if place.endswith(".py") and not Path(place).is_file():
        raise Unsuitable(f"there is no file {place!r}")
    return place, name


def _unnamed(target: str) -> str:
    """What to type in place of a target without a name: the functions and classes of its file."""
    file = Path(target)
    if file.is_dir():
        return f"{target} is a folder: name a file in it and what to check, as FILE.py:NAME"
    names = functions_of(f"{target}:", os.getcwd()) if file.suffix == ".py" else []
    if names:
        listed = ", ".join(f"{target}:{name}" for name in names[:NAMED])
        more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        return f"{target}: say which function or class to check: {listed}{more}"
    if file.is_file():
        return f"{target}: a program is named by its path: .{os.sep}{target}"
    return f"{target!r} names no function or class: write module:name or path/to/file.py:name"
