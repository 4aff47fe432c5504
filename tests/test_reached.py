"""`pytest --changed` runs the test files that a change can reach, and says how many these are."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reached import Files, changed_files
from tests.walked import ROOT

LIBRARY = {
    "spec/__init__.py": 'DOORS = {"certify": ".engine", "x": ".words"}\n'
    "if TYPE_CHECKING:\n    from spec.engine import certify\n    from spec.words import x\n",
    "spec/engine.py": "def certify(x):\n    from spec import book\n",
    "spec/book/__init__.py": 'parts = (import_module(f"{__name__}.{x}") for x in ("waves",))',
    "spec/book/waves.py": "",
    "spec/words.py": "",
    "spec/pages.py": 'FOLDER = Path(__file__).parent / "templates"',
    "spec/templates/page.html": "",
    "attention_spec/__init__.py": "",
    "implementations/__init__.py": "",
    "implementations/dense.py": "from spec.words import x",
    "implementations/ring.py": "",
    "README.md": "",
    "notes.txt": "",
}
TESTS = {
    "tests/__init__.py": "",
    "tests/test_words.py": "from spec.words import x",
    "tests/test_certify.py": "from attention_spec import certify",
    "tests/test_target.py": 'TARGET = "implementations.dense:attend"',
    "tests/test_script.py": 'TEXT = """\nfrom implementations.dense import attend\n"""',
    "tests/test_each.py": 'targets = [f"implementations.{name}:attend" for name in NAMES]',
    "tests/test_pages.py": "import spec.pages",
    "tests/test_files.py": 'TEXT = (ROOT / "README.md").read_text()',
    "tests/test_command.py": 'words = ["-m", "spec"]',
    "tests/test_none.py": '"""Of implementations.dense and spec.words."""\nx = "a.b", "waves"',
}


def made(root: Path) -> Files:
    """A small repository."""
    for name, text in {**LIBRARY, **TESTS}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return Files(root, {**LIBRARY, **TESTS})


@pytest.mark.parametrize(
    ("changed", "names"),
    [
        ("spec/words.py", "command each script target words"),
        ("spec/engine.py", "certify command"),
        ("spec/book/waves.py", "certify command"),
        ("implementations/dense.py", "each script target"),
        ("implementations/ring.py", "each"),
        ("spec/templates/page.html", "command pages"),
        ("README.md", "files"),
        ("tests/test_none.py", "none"),
        ("spec/__init__.py", "certify command each pages script target words"),
    ],
)
def test_a_change_reaches_who_imports_or_names_the_file(
    changed: str, names: str, tmp_path: Path
) -> None:
    chosen, why = made(tmp_path).test_files([changed])
    assert sorted(chosen) == [f"tests/test_{name}.py" for name in names.split()]
    assert why == f"what {changed} reaches"


def test_a_file_that_is_gone_reaches_who_imported_it(tmp_path: Path) -> None:
    files = made(tmp_path)
    (tmp_path / "spec/pages.py").unlink()
    assert files.test_files(["spec/pages.py"])[0] == {
        "tests/test_pages.py",
        "tests/test_command.py",
    }


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ("pyproject.toml", "pyproject.toml concerns all"),
        ("tests/pages/conftest.py", "tests/pages/conftest.py concerns all"),
        ("notes.txt", "no test names notes.txt"),
    ],
)
def test_what_may_concern_everything_reaches_everything(
    changed: str, why: str, tmp_path: Path
) -> None:
    files = made(tmp_path)
    assert files.test_files(["spec/words.py", changed]) == (files.tests, why)
    assert len(files.tests) == 9


def test_nothing_is_reached_by_nothing(tmp_path: Path) -> None:
    assert made(tmp_path).test_files([]) == (set(), "nothing is changed")


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with our conftest and two test files, each of which imports a module."""
    for name in (
        "conftest.py",
        "tests/__init__.py",
        "tests/parts.py",
        "tests/reached.py",
        "tests/walked.py",
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, tmp_path / name)
    for name in ("one", "two"):
        (tmp_path / f"tests/{name}.py").write_text("x = 1\n")
        text = f"from tests.{name} import x\n\n\ndef test_x():\n    assert x\n"
        (tmp_path / f"tests/test_{name}.py").write_text(text)
    (tmp_path / ".gitignore").write_text("__pycache__\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one and two")
    return tmp_path


def ran(folder: Path, *words: str) -> tuple[int, list[str]]:
    """The exit code of pytest in a repository, and the lines that it prints."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_what_is_not_committed_or_is_new_counts(repository: Path) -> None:
    (repository / "tests/two.py").write_text("x = 2\n")
    assert changed_files(repository, "HEAD")[0] == {"tests/two.py"}
    (repository / "tests/test_three.py").write_text("def test_y():\n    pass\n")
    code, lines = ran(repository, "--changed")
    said = "--changed: 2 of 3 test files since HEAD: what tests/test_three.py and 1 more reaches"
    assert (code, lines.count(said)) == (0, 1), lines
    assert lines[-1].startswith("2 passed")


def test_a_commit_may_be_named(repository: Path) -> None:
    (repository / "tests/one.py").write_text("x = 2\n")
    git(repository, "commit", "-qam", "three")
    assert changed_files(repository, "HEAD")[0] == set()
    code, lines = ran(repository, "--changed=HEAD~1")
    assert "--changed: 1 of 2 test files since HEAD~1: what tests/one.py reaches" in lines
    assert (code, lines[-1].partition(" in ")[0]) == (0, "1 passed")


def test_a_commit_that_is_none_is_refused_in_a_line(repository: Path) -> None:
    code, lines = ran(repository, "--changed", "tests/test_one.py")
    said = [line for line in lines if line]
    assert code == pytest.ExitCode.USAGE_ERROR
    assert said == [
        "ERROR: --changed=tests/test_one.py: fatal: bad revision 'tests/test_one.py', "
        "and files come before --changed"
    ]
