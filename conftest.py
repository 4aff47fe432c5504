"""`pytest --implementation TARGET`: the clauses as tests of somebody's attention, or layer.

Given a target, nothing but tests/test_implementation.py is collected: a test for each
clause and dtype, named like K2-key_gradients_sum_to_zero-float32.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

TESTS = "test_implementation.py"
OPTIONS = ("about", "profile", "backend", "layout", "device")
CLASSIFIER = ("torch", "tokenizers", "tqdm", "matplotlib")
NEEDED = {  # from their first line on
    "attention/test_plug.py": ("torch",),
    "attention/test_idle_conventions.py": ("torch",),
    "attention/test_no_gradient.py": ("torch",),
    "certification/test_paths.py": ("torch",),
    "implementations/test_right.py": ("torch",),
    "implementations/test_classifier.py": CLASSIFIER,
    "implementations/test_classifier_command.py": CLASSIFIER,
    "implementations/test_classifier_datasets.py": CLASSIFIER,
}


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `python -m spec certify` that a test run needs."""
    group = parser.getgroup("attention", "hold an implementation to the specification")
    group.addoption(
        "--implementation", metavar="TARGET", help="module:name or path/to/file.py:name"
    )
    group.addoption("--about", help="what it is, as for `python -m spec certify`")
    group.addoption("--profile", default="standard", help="quick, standard or deep")
    group.addoption("--backend", help="numpy, torch or jax")
    group.addoption("--layout", default="bhld", help="bhld or blhd")
    group.addoption("--device", default="cpu", help="cpu or cuda")
    group.addoption("--dtype", help="as in float32,float16")
    group.addoption("--clause", help="as in K2,M")
    group.addoption("--convention", action="append", default=[], metavar="NAME=VALUE")
    group.addoption("--deviation", action="append", default=[], metavar="CLAUSE=REASON")
    group.addoption("--deviations", metavar="FILE", help="the same as a table of TOML or JSON")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Only the clauses with a target, and all but them without."""
    if collection_path.suffix != ".py":
        return None
    if any(
        find_spec(name) is None for name in NEEDED.get("/".join(collection_path.parts[-2:]), ())
    ):
        return True
    wanted = bool(config.getoption("--implementation"))
    return True if wanted != (collection_path.name == TESTS) else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What cannot run here is not collected, and what runs long only where it is asked for."""
    absent = {name for name in ("torch", "jax") if find_spec(name) is None}
    if "deep" not in config.getoption("-m"):
        absent.add("deep")
    left_out = [item for item in items if absent & {mark.name for mark in item.iter_markers()}]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test for each clause and dtype that binds the target."""
    target = metafunc.config.getoption("--implementation")
    if target is None or "run" not in metafunc.fixturenames or metafunc.module.__file__ is None:
        return
    if Path(metafunc.module.__file__).name != TESTS:
        return
    from spec.backends import Unsuitable
    from spec.certification.doors import runs
    from spec.certification.target.declared import declared

    option = metafunc.config.getoption
    try:
        found = runs(
            target,
            **{name: option(f"--{name}") for name in OPTIONS},
            dtypes=option("--dtype"),
            clauses=option("--clause"),
            conventions=dict(word.split("=", 1) for word in option("--convention")),
            deviations=declared(option("--deviation"), option("--deviations")),
        )
    except Unsuitable as reason:
        raise pytest.UsageError(str(reason)) from None
    metafunc.parametrize("run", found, ids=[run.id for run in found])
