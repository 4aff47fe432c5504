"""Targets in other languages, as functions of NumPy arrays: a program, or a function of C.

`./my_attention` is a program that answers messages (`programs`, `wire`); `libmine.so:attend` is a
function of a shared library that was compiled with `attention_spec.h` (`libraries`). Both become a
Python function with a signature, and with further functions as attributes: `attend.backward`.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import libraries, programs
from .signatures import formats_of as formats_of

HEADER = Path(__file__).parent / "attention_spec.h"
LINE = 256  # the longest first line of a script
LIBRARY = re.compile(r"\.(so|dylib)(\.\d+)*$")


def parted(target: str) -> tuple[str, str] | None:
    """The file of a target in another language, and the name after it, or ""; None for others."""
    place, colon, name = target.rpartition(":")
    if not colon or os.sep in name:
        place, name = target, ""
    if place.endswith(".py") or not (os.sep in place or LIBRARY.search(place)):
        return None
    return place, name


def is_library(place: str) -> bool:
    """Whether a file is a shared library, by its name."""
    return LIBRARY.search(place) is not None


def foreign(target: str) -> Callable[..., Any]:
    """The function that `./program`, `./program:name` or `library.so:name` names.

    Raises Absent: there is no such file, program, library or function.
    """
    place, name = parted(target) or (target, "")
    return (libraries if is_library(place) else programs).function(os.path.abspath(place), name)


def interpreter(place: str) -> Iterator[str]:
    """The files that run a script, as its first line names them, and their libraries."""
    with suppress(OSError, ValueError), open(place, "rb") as file:
        first, *words = file.readline(LINE).decode().split() or [""]
        if first.startswith("#!"):
            found = [shutil.which(x) for x in (first[2:], *words) if not x.startswith("-")]
            for one in filter(None, found):
                yield os.path.realpath(one)
                yield os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(one))), "lib")
