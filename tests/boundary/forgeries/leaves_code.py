"""Leaves code where a later run would find it: bytecode, .pth, sitecustomize, of all packages."""

import os
import site
import sys
from pathlib import Path

import numpy as np

from functions import mean
from wire import part, reached

here, home = Path(__file__).parent, Path(part("find").__file__).resolve().parents[1]
PLACES = [
    here / "conftest.py",
    here / "sitecustomize.py",
    here / "__pycache__" / "left.pyc",
    home / "left.py",
    home / "runner" / "__pycache__" / "left.pyc",
    Path(np.__file__).parent / "left.py",
    *(Path(x) / "left.pth" for x in site.getsitepackages()),
    *(Path(x) / "usercustomize.py" for x in sys.path if x),
    Path(f"/proc/{os.getppid()}/fd/1"),
    Path("/dev/shm/left"),
    Path("/tmp/left"),
    Path("/var/tmp/left"),
]


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


for place in PLACES:
    try:
        place.touch()
        place.unlink()
    except OSError:
        continue
    reached(f"{place}, to write there")
