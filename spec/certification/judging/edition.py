"""Which specification this is: verdicts of another one are not verdicts of this."""

import hashlib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@cache
def edition() -> str:
    """A word for all that is written in it: the same wherever the same is written."""
    told = hashlib.sha256()
    for path in sorted(ROOT.rglob("*.py")):
        told.update(f"{path.relative_to(ROOT).as_posix()} {path.stat().st_size}\n".encode())
        told.update(path.read_bytes())
    return told.hexdigest()[:16]
