"""The examples run as they say: the command is read from each file."""

import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.shell import FEW, NO_CAUSES, run, started

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
COMMAND = re.compile(r"^[ #]+attention-spec (certify .*)$", re.MULTILINE)
FILES = [
    "numpy_function.py",
    "numpy_layer.py",
    "kv_cache.py",
    pytest.param("torch_function.py", marks=pytest.mark.torch),
    pytest.param("jax_function.py", marks=pytest.mark.jax),
    pytest.param(
        "transformers_layer.toml",
        marks=pytest.mark.skipif(find_spec("transformers") is None, reason="no transformers"),
    ),
]


@pytest.mark.parametrize("file", FILES)
def test_an_example_is_certified_by_its_command(file: str) -> None:
    (command,) = COMMAND.findall((EXAMPLES / file).read_text())
    done = run(*shlex.split(command), cwd=ROOT, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": certified" in done.stdout.splitlines()[0]


@pytest.mark.torch
def test_the_tests_of_the_example_pass() -> None:
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_torch_function.py")
    done = started(program=words, cwd=EXAMPLES, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("file", "right", "wrong"),
    [
        ("numpy_function.py", "1 / np.sqrt(query.shape[-1])", "1 / query.shape[-1]"),
        ("kv_cache.py", "k=past, ", ""),
    ],
)
def test_an_example_with_a_fault_is_refused(
    file: str, right: str, wrong: str, tmp_path: Path
) -> None:
    text = (EXAMPLES / file).read_text()
    assert right in text
    (tmp_path / file).write_text(text.replace(right, wrong))
    name = "Cache" if "class Cache" in text else "attend"
    done = run("certify", f"{file}:{name}", *FEW, *NO_CAUSES, "--fail-fast", cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr


def test_the_page_lists_every_example() -> None:
    page = (EXAMPLES / "README.md").read_text()
    files = [x.name for x in EXAMPLES.iterdir() if x.is_file() and x.name != "README.md"]
    assert [name for name in files if f"({name})" not in page] == []
