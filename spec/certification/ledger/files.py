"""Files that are written whole or not at all, and JSON in lines."""

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any


def in_lines(fields: Mapping[str, Any]) -> str:
    """JSON with a line for each field, and one for each item of lists."""
    return "{\n" + ",\n".join(f"{json.dumps(n)}: {_value(x)}" for n, x in fields.items()) + "\n}\n"


def _value(x: Any) -> str:
    if not isinstance(x, list):
        return json.dumps(x, allow_nan=False)
    return "[\n" + ",\n".join(json.dumps(item, allow_nan=False) for item in x) + "\n]"


def written(path: Path, text: str) -> None:
    """Write `text` to `path` in one step, so that no reader gets half of it.

    An existing file keeps its mode. A new one has the mode of other new files of this process.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        os.fchmod(handle, _mode(path))
    os.replace(name, path)


def _mode(path: Path) -> int:
    """The mode of the file to write: that of the existing file, or of a new one."""
    if path.exists():
        return path.stat().st_mode & 0o777
    hidden = os.umask(0)  # it is told to who sets it
    os.umask(hidden)
    return 0o666 & ~hidden
