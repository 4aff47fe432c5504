"""Output files: all of them are written at the end, and each is complete or absent."""

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from implementations.classifier.documents import Unusable


def writable(file: Path) -> Path:
    """Return the path. Raises Unusable if no file can be written there; creates nothing."""
    if file.is_dir():
        raise Unusable(f"{file} is a folder, and a file is to be written")
    there = next(folder for folder in file.absolute().parents if folder.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise Unusable(f"{file} cannot be written: {there} is no folder to write to")
    return file


def written(contents: Mapping[Path, bytes]) -> None:
    """Write every file atomically, and create folders that do not exist. Raises Unusable."""
    drafts: dict[str, Path] = {}
    try:
        for file, content in contents.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, draft = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.")
            drafts[draft] = file
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
            os.chmod(draft, 0o644)
        for draft, file in drafts.items():
            os.replace(draft, file)
    except OSError as error:
        raise Unusable(f"{error.filename} cannot be written: {error.strerror}") from None
    finally:
        for draft in drafts:
            Path(draft).unlink(missing_ok=True)
