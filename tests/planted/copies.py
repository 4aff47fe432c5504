"""Copies of the repository that import their own packages, also in processes that tests start."""

import os
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path

from tests.planted.faults import ROOT, Fault

PACKAGES = ("spec", "attention_spec", "implementations", "oracles", "tests")
PLUGIN = "pytest_attention_spec"
# The test of the faults fails wherever one is planted, which says nothing.
LEFT_OUT = ("tests/planted/", "tests/test_planted.py")
ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Astray(Exception):
    """A process of a copy would import a package from elsewhere."""


def clean_copy(folder: Path) -> Path:
    """A copy of the working tree, compiled, and without the planting of faults.

    Raises Astray where a process would not import the packages of the copy.
    """
    for name in _files():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, target, follow_symlinks=False)
    compiling = [sys.executable, "-m", "compileall", "-q", *PACKAGES, f"{PLUGIN}.py"]
    subprocess.run(compiling, cwd=folder, check=True)
    _check_imports(folder)
    return folder


def planted_copy(clean: Path, fault: Fault, folder: Path) -> Path:
    """A copy of a clean copy, with a fault in it."""
    text = fault.planted(clean)
    shutil.copytree(clean, folder, symlinks=True)
    path = folder / fault.file
    path.write_text(text, encoding="utf-8")
    # A compiled file counts as up to date by a time in seconds and a size, which may be the same.
    Path(cache_from_source(str(path))).unlink(missing_ok=True)
    return folder


def environment(folder: Path) -> dict[str, str]:
    """The environment of what runs in a copy: its packages first, a store for Hypothesis."""
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return {
        **dict.fromkeys(ONE_THREAD, "1"),
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), *filter(None, before)]),
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / ".hypothesis"),
    }


def _files() -> list[str]:
    """The files that git tracks or would track, those that are there, from the root."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    names = dict.fromkeys(name for name in listed.stdout.split("\0") if name)
    there = (name for name in names if (ROOT / name).is_file())
    return [name for name in there if not name.startswith(LEFT_OUT)]


def _check_imports(folder: Path) -> None:
    """Import each package in a process that starts in another folder, as those of tests do."""
    names = ", ".join([*PACKAGES, PLUGIN])
    program = f"import {names}\nfor x in ({names}): print(x.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=folder.parent,
        env=environment(folder),
        capture_output=True,
        text=True,
        check=False,
    )
    places = done.stdout.splitlines()
    strange = [x for x in places if not Path(x).resolve().is_relative_to(folder.resolve())]
    if done.returncode or strange or len(places) <= len(PACKAGES):
        raise Astray(f"not imported from the copy: {strange or done.stderr.strip()}")
