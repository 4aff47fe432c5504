"""A program that calls a target with arrays which it reads, as anybody's script does.

Its process has nothing of this package but the text of two files in one, as a script (`TEXT`).
"""

from pathlib import Path

FOLDER = Path(__file__).parent
NAMES = ("libraries", "program")
PARTS = [(FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in NAMES]
TEXT = PARTS[0] + PARTS[1].replace("from .libraries import WAYS\n", "")
