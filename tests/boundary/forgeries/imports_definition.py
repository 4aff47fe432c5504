"""Looks for the definition on every path, in every format, installed, compiled and by hand."""

import glob
import importlib
import os
import sys
from pathlib import Path

from functions import mean
from wire import part, reached

HOME = Path(part("find").__file__).resolve().parents[1]
PLACES = {*sys.path, str(HOME.parent), os.getcwd(), sys.prefix}
OPEN = ("runner", "adapters")  # which a target may read
NAMES = ("spec", "attention_spec", "spec.comparison", "spec.attention.definition")

for name in NAMES:
    for entry in PLACES:
        sys.path.insert(0, entry)
        try:
            importlib.import_module(name)
        except ImportError:
            continue
        finally:
            sys.path.pop(0)
        reached(f"import {name} from {entry}")
for entry in PLACES:
    for pattern in ("*.py", "*/*.py", "__pycache__/*.pyc", "attention/__pycache__/*.pyc"):
        for path in [x for name in NAMES[:2] for x in glob.glob(f"{entry}/{name}/{pattern}")]:
            try:
                Path(path).read_bytes()
            except OSError:
                continue
            if Path(path).parent.name not in OPEN:
                reached(path)
for handle in range(64):
    try:
        path = os.readlink(f"/proc/self/fd/{handle}")
    except OSError:
        continue
    if str(HOME) in path:
        reached(f"the handle of {path}")


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)
