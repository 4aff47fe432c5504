"""What is installed: `attention_spec` alone, next to a stranger's package that is called `spec`."""

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from xml.etree import ElementTree

import pytest

from spec.certification.judging.edition import edition
from tests import shell

ROOT = Path(__file__).parent.parent.parent
FOLDERS = ("spec", "attention_spec")
FILES = ("pytest_attention_spec.py", "pyproject.toml", "setup.py", "README.md", "LICENSE")
INSIDE = Path("attention_spec", "spec")  # of what is installed
ALONE = (sys.executable, "-S", "-W", "error")  # without what is installed to be edited
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
SCRIPT = (
    "from importlib.metadata import entry_points as found; "
    "(command,) = found(group='console_scripts', name='attention-spec'); "
    "raise SystemExit(command.load()())"
)
COMMAND = ("-P", "-c", SCRIPT)  # as the file does that pip makes of it
MODULE = ("-m", "attention_spec")
PYTEST = ("-m", "pytest", "-p", "no:cacheprovider")
FEW = (*shell.FEW, "--clause", "A1,V2")
ATTEND = """\
import numpy as np

def attend(query, key, value):
    s = query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1], dtype=query.dtype)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ value
"""
CONFTEST = """\
import sys
import spec

def pytest_addoption(parser):
    parser.addoption("--device")

def pytest_unconfigure(config):
    used = [name for name in sys.modules if name.startswith("attention_spec")]
    assert bool(used) == bool(config.getoption("--implementation")), used
    assert spec.THEIRS
"""
THEIRS = {
    "spec/__init__.py": "THEIRS = True\n",
    "spec/kernels.py": ATTEND,
    "mine.py": "from spec.kernels import attend\n",
    "wrong.py": "import mine\n\ndef attend(q, k, v):\n    return 2 * mine.attend(q, k, v)\n",
    "conftest.py": CONFTEST,
    "tests/test_mine.py": "def test_mine():\n    pass\n",
}


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A folder that holds what is installed, and nothing else."""
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / name, source / name, ignore=ignored)
    for name in FILES:
        shutil.copy2(ROOT / name, source / name)
    done = subprocess.run(
        [sys.executable, "-c", BUILD, "."], cwd=source, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = source.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(site)
    return site


@pytest.fixture
def run(site, tmp_path):
    """A command in a folder that has nothing of ours, where the wheel is installed."""
    others = [path for path in sys.path if Path(path).resolve() not in (ROOT, Path.cwd())]

    def run(*words, program=COMMAND, place=site):
        path = [str(place), *others]
        return shell.run(*words, cwd=tmp_path, program=program, path=path, start=ALONE)

    return run


def put(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


@pytest.mark.slow
def test_a_wheel_has_all_that_is_in_the_folder_and_nothing_else(site):
    def files(folder):
        found = {x.relative_to(folder) for x in folder.rglob("*") if x.is_file()}
        return {x for x in found if "__pycache__" not in x.parts}

    assert files(site / INSIDE) == files(ROOT / "spec")
    names = {path.name for path in site.iterdir() if path.suffix != ".dist-info"}
    names -= {"__pycache__"}  # of whoever ran there before
    assert names == {"attention_spec", "pytest_attention_spec.py"}
    others = {x for x in files(site / "attention_spec") if x.parts[0] != "spec"}
    assert others == {Path("__init__.py")}


def test_nothing_that_is_installed_is_called_spec(run):
    lines = ["import attention_spec", "attention_spec.CLAUSES", "import spec"]
    done = run(program=("-P", "-c", "; ".join(lines)))
    assert done.returncode == 1
    assert done.stderr.endswith("ModuleNotFoundError: No module named 'spec'\n")


def test_what_is_installed_is_the_same_edition(run):
    module = "attention_spec.certification.judging.edition"
    done = run(program=("-P", "-c", f"from {module} import edition; print(edition())"))
    assert done.stdout.strip() == edition()


@pytest.mark.slow
def test_what_is_printed_and_written_there_names_what_is_installed(run, site, tmp_path):
    target = "attention_spec.attention.mistakes.sparsity:returns_zero"
    done = run("certify", target, *FEW, "--fail-fast", "--report", "found")
    assert done.returncode == 1, done.stdout + done.stderr
    assert f"attention-spec certify {target}" in done.stdout
    (script,) = (tmp_path / "found").glob("*.py")
    text = script.read_text()
    assert f"sys.path.insert(0, {str(site)!r})\n" in text
    assert "from attention_spec.attention.mistakes.sparsity import returns_zero" in text
    assert "from spec" not in text
    assert run(program=(str(script),)).returncode == 1
    done = run("certify", target, "--clause", "Q99")
    assert (done.returncode, done.stdout) == (2, "")
    assert "`attention-spec clauses` lists them" in done.stderr


def test_the_command_judges_where_nothing_else_is(run, tmp_path):
    put(tmp_path, {"mine.py": ATTEND, "broken.py": "def attend(q k v):\n"})
    done = run("certify", "mine.py:attend", *FEW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("attend: certified (quick)\n")
    assert "attention-spec certify mine.py:attend" in done.stdout
    done = run("certify", "broken.py:attend", *FEW)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "broken.py cannot be imported: SyntaxError: " in done.stderr


@pytest.mark.slow
@pytest.mark.html
def test_a_page_is_written_where_nothing_else_is(run, tmp_path):
    put(tmp_path, {"mine.py": ATTEND})
    done = run("certify", "mine.py:attend", *FEW, "--html", "mine.html")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "<h1>attend</h1>" in (tmp_path / "mine.html").read_text(encoding="utf-8")


@pytest.mark.quick("True-spec/kernels.py:attend", "False-spec.kernels:attend")
@pytest.mark.parametrize(
    "target", ["mine.py:attend", "spec/kernels.py:attend", "spec.kernels:attend"]
)
@pytest.mark.parametrize("package", [True, False])
def test_a_target_may_need_a_folder_named_spec(package, target, run, tmp_path):
    put(tmp_path, THEIRS)
    if not package:
        (tmp_path / "spec" / "__init__.py").unlink()
    done = run("certify", target, *FEW)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"\nrepeat   attention-spec certify {target} " in done.stdout


@pytest.mark.parametrize(
    ("target", "begins"),
    [
        ("mine.py:attend", "mine.py cannot be imported: "),
        ("spec.kernels:attend", "there is no mod"),
    ],
)
def test_where_spec_is_ours_the_error_says_how_to_reach_another(target, begins, run, tmp_path):
    put(tmp_path, THEIRS)
    (tmp_path / "spec" / "__init__.py").unlink()  # else Python takes theirs, and not ours
    done = run("certify", target, *FEW, program=("-m", "spec"), place=ROOT)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert begins in done.stderr
    assert done.stderr.endswith(
        "is the specification; for another 'spec', start `attention-spec`\n"
    )


@pytest.mark.slow
@pytest.mark.torch
def test_targets_are_listed_and_a_description_and_an_adapter_are_found(run):
    done = run("targets", "torch/encoder")
    assert done.returncode == 0, done.stdout + done.stderr
    target = "attention_spec.adapters.torch_layers:Encoder"
    assert f"{target} --description torch/encoder" in done.stdout
    few = (*shell.FEW, "--clause", "L1")
    done = run("certify", target, "--description", "torch/encoder", *few)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr.splitlines()[-1].startswith("note: recorded in the ledger with torch ")
    done = run("certify", target, "--description", "torch/encodre", *few)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert "did you mean 'torch/encoder'?" in done.stderr


@pytest.mark.slow
def test_a_package_named_spec_may_be_of_no_use_to_anybody(run, tmp_path):
    put(tmp_path, {"spec.py": "raise RuntimeError('this is not yours')\n", "mine.py": ATTEND})
    done = run("certify", "mine:attend", *FEW, program=MODULE)
    assert done.returncode == 0, done.stdout + done.stderr


def test_both_packages_are_imported_side_by_side(run, tmp_path):
    put(tmp_path, THEIRS)
    names = "CLAUSES, assert_attention, certify, parametrize_with_clauses"
    code = f"import spec; from attention_spec import {names}; assert spec.THEIRS; CLAUSES['K2']"
    done = run(program=("-c", code))
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_pytest_collects_the_clauses_and_nothing_else(run, tmp_path):
    put(tmp_path, THEIRS)
    few = (*FEW, "--clause", "V9", "--device", "cpu")
    words = ("--implementation", "wrong.py:attend", *few, "--junitxml", "x.xml")
    done = run(*words, program=PYTEST)
    assert done.returncode == 1, done.stdout + done.stderr
    cases = ElementTree.parse(tmp_path / "x.xml").findall(".//testcase")
    assert [(case.get("classname"), case.get("name")) for case in cases] == [
        ("wrong.py:attend", "A1-output_matches_definition-float32"),
        ("wrong.py:attend", "V2-constant_values_give_that_constant-float32"),
        ("wrong.py:attend", "V9-subnormal_values_are_not_flushed_to_zero-float32"),
    ]
    *musts, should = cases
    assert should.find("skipped").get("type") == "pytest.xfail"
    for case in musts:
        failure = case.find("failure")
        assert re.search(r"^at \(.+\): got |^the output is ", failure.get("message"))
        assert "from wrong import attend" in failure.text


def test_pytest_is_what_it_was_where_there_is_no_target(run, tmp_path):
    put(tmp_path, THEIRS)
    done = run(program=PYTEST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
