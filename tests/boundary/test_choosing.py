"""A target has a process of its own wherever it can, and the certificate says where it has not."""

import sys
from pathlib import Path

import pytest

from spec.boundary.choosing import FORK, PROCESS, chosen, of_ours
from tests.shell import FEW, NO_CAUSES, run
from tests.walked import ROOT

FILES = {
    "plain.py": "import numpy as np\n",
    "direct.py": "from spec.notation import Array\n",
    "installed.py": "import attention_spec\n",
    "late.py": "def attend():\n    import spec\n",
    "through.py": "import inner.deeper\n",
    "inner/__init__.py": "",
    "inner/deeper.py": "from . import other\n",
    "inner/other.py": "from .last import x\n",
    "inner/last.py": "import spec.attention\n",
    "named.py": "spec = 'import spec'\n",
    "circle.py": "import circle\n",
    "broken.py": "import (\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("targets")
    for name, text in FILES.items():
        (found / name).parent.mkdir(exist_ok=True)
        (found / name).write_text(text)
    return found


@pytest.mark.parametrize(
    ("target", "ours"),
    [
        ("plain.py:x", False),
        ("plain:x", False),
        ("direct.py:x", True),
        ("installed:x", True),
        ("late.py:attend", True),
        ("through:x", True),
        ("inner/last.py:x", True),
        ("inner.other:x", True),
        ("named.py:x", False),
        ("circle:x", False),
        ("broken.py:x", False),
        ("nowhere.py:x", False),
        ("nowhere:x", False),
        ("spec.adapters.xformers:x", True),
        ("numpy:x", False),
    ],
)
def test_a_target_that_imports_the_specification_is_known_by_its_text(
    target: str, ours: bool, folder: Path
) -> None:
    assert of_ours(target, folder) == ours


def test_modules_are_also_found_where_python_looks(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("import through\n")
    assert not of_ours("mine.py:x", tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sys, "path", [str(folder), *sys.path])
        assert of_ours("mine.py:x", tmp_path)


def test_nothing_is_run_to_know_it(folder: Path) -> None:
    (folder / "runs.py").write_text("raise SystemExit\n")
    assert not of_ours("runs.py:x", folder)
    assert "runs" not in sys.modules


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no target has a process of its own")
def test_all_others_have_a_process_of_their_own(folder: Path) -> None:
    assert chosen("plain.py:x", "cpu", str(folder)) == PROCESS
    assert chosen("./program", "cpu", str(folder)) == PROCESS
    assert chosen("plain.py:x", "cuda", str(folder)) == FORK
    assert chosen("direct.py:x", "cpu", str(folder)) == FORK


@pytest.mark.quick("implementations.dense:attend-words2*", "implementations.dense:attend-words3*")
@pytest.mark.parametrize(
    ("target", "words", "said"),
    [
        ("examples/numpy_function.py:attend", (), "process"),
        ("examples/numpy_function.py:attend", ("--isolation", "fork"), "fork: the target shares"),
        ("implementations.dense:attend", ("--isolation", "none"), "none: the target shares the"),
        ("implementations.dense:attend", (), "fork: the target shares processes with its judge"),
    ],
)
def test_a_certificate_says_how(target: str, words: tuple[str, ...], said: str) -> None:
    done = run("certify", target, *FEW, *NO_CAUSES, "--clause", "A1", *words, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"\nisolation     {said}" in done.stdout
    assert ("--isolation" in done.stdout) == bool(words)  # what repeats it


def test_one_process_has_no_others() -> None:
    words = ("--isolation", "none", "--jobs", "2")
    done = run("certify", "implementations.dense:attend", *words, cwd=ROOT)
    assert done.returncode == 2
    assert done.stderr.startswith("error: --isolation none tests in one process: leave out --jobs")
