"""Descriptions of layers as text: in a file of the user, or one of this package by its name.

The descriptions of this package are the files `descriptions/library/layer.toml` of this chapter,
each with the name `library/layer`.
"""

import tomllib
from pathlib import Path
from typing import Any

from spec.backends.library import Unsuitable
from spec.backends.unknown import hint

FOLDER = Path(__file__).resolve().parents[1] / "descriptions"
SUFFIX = ".toml"


def shipped() -> dict[str, Path]:
    """The descriptions of this package: name -> file."""
    files = sorted(FOLDER.glob(f"*/*{SUFFIX}"))
    return {file.relative_to(FOLDER).with_suffix("").as_posix(): file for file in files}


def content(word: str) -> dict[str, Any]:
    """The content of a description. A file goes before a description of this package.

    word: the path of a file, or a name.
    Raises Unsuitable: there is neither, it cannot be read, or it is no TOML.
    """
    file, known = Path(word), shipped()
    if not file.is_file() and file.suffix != SUFFIX:
        if word not in known:
            listed = hint(word, known) or ": `attention-spec targets` lists those of this package"
            raise Unsuitable(f"{word!r} is no file, and no name of a description{listed}")
        file = known[word]
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise Unsuitable(f"{word} cannot be read: {error.strerror}{hint(word, known)}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Unsuitable(f"{word} is no TOML: {error}") from None
