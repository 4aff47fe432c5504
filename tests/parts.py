"""The parts of the test suite, which run beside each other: every test file belongs to one.

`python -m pytest --part book` runs one of them, as `tox run -e book` does in its environment.
"""

from collections.abc import Mapping
from pathlib import Path

PARTS: Mapping[str, tuple[str, ...]] = {  # beginnings of paths in `tests`; the first one counts
    "compilers": (  # what compiles programs, by torch or JAX
        "attention/test_own_arrays.py",
        "attention/test_plug.py",
        "attention/test_scripts.py",
        "certification/test_compiled.py",
        "certification/test_palette.py",
        "implementations/test_flex.py",
        "implementations/test_jax",
        "merging/test_merging.py",
        "test_examples.py",
    ),
    "processes": (  # what starts processes, and waits for some that die or hang
        "certification/test_campaign.py",
        "certification/test_command_line",
        "certification/test_dask.py",
        "certification/test_executors.py",
        "certification/test_installed.py",
        "certification/test_interfered.py",
        "certification/test_interrupted.py",
        "certification/test_mpi.py",
        "certification/test_printed.py",
        "certification/test_redis.py",
        "certification/test_watching.py",
        "test_contributing.py",
        "test_planted.py",
        "test_shell.py",
    ),
    "engine": ("certification/", "pages/", "site/", "test_golden.py"),
    "book": ("",),  # clauses, mistakes, chapters, implementations, oracles, rules
}


def part_of(path: str) -> str:
    """The part that a file belongs to, by its path in `tests`."""
    return next(part for part, paths in PARTS.items() if path.startswith(paths))


def is_outside(file: Path, tests: Path, part: str) -> bool:
    """Whether a file is one of the tests, and of another part."""
    inside = file.is_file() and tests in file.parents
    return inside and part_of(file.relative_to(tests).as_posix()) != part
