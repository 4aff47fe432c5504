"""The examples run as their first lines say: the command and what to expect are read from there."""

import json
import re
import shlex
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.shell import FEW, NO_CAUSES, run, started

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"
PAGE = (EXAMPLES / "README.md").read_text()
COMMAND = re.compile(r"^#? +(attention-spec certify|pytest) (.*)$", re.MULTILINE)
FIRST_LINE = re.compile(r'^(?:# )?Expect "(\w+: certified \(quick\))"', re.MULTILINE)
LONGEST = 600  # seconds; XLA compiles about a hundred programs
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
FAULTS = [  # a target, what is right in its file, and what somebody could have written instead
    pytest.param("numpy_function.py:attend", "query.shape[-1] ** -0.5", "1.0", id="no scale"),
    pytest.param("kv_cache.py:Cache", "k=past, ", "", id="no past"),
    pytest.param("numpy_layer.py:SelfAttention", "W_q W_k W_v", "W_k W_q W_v", id="keys first"),
    pytest.param(
        "torch_function.py:attend", " - row)", ")", id="no row term", marks=pytest.mark.torch
    ),
]


NOTEBOOK = EXAMPLES / "notebook.ipynb"
CELLS = """\
import ast, json, sys

space = {"__name__": "__main__"}
for source in json.load(sys.stdin):
    *first, last = ast.parse(source).body
    shown = isinstance(last, ast.Expr)  # as a notebook does
    exec(compile(ast.Module(first if shown else [*first, last], []), "cell", "exec"), space)
    value = eval(compile(ast.Expression(last.value), "cell", "eval"), space) if shown else None
    print(value._repr_html_() if hasattr(value, "_repr_html_") else value)
"""


def command_of(text: str) -> tuple[str, str]:
    """The program and its arguments that an example tells a reader to run."""
    (found,) = COMMAND.findall(text)
    return found


@pytest.mark.quick("numpy_function.py", "numpy_layer.py", "kv_cache.py", "transformers*")
@pytest.mark.parametrize("file", FILES)
def test_an_example_is_certified_by_its_command(file: str) -> None:
    text = (EXAMPLES / file).read_text()
    program, arguments = command_of(text)
    assert program == "attention-spec certify"
    done = run("certify", *shlex.split(arguments), cwd=ROOT, timeout=LONGEST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[0] in FIRST_LINE.findall(text)


@pytest.mark.torch
def test_the_tests_of_the_example_pass() -> None:
    program, arguments = command_of((EXAMPLES / "test_torch_function.py").read_text())
    assert program == "pytest"
    words = ("-m", "pytest", "-q", "-p", "no:cacheprovider", *shlex.split(arguments))
    done = started(program=words, cwd=ROOT, timeout=LONGEST)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.quick("no scale")
@pytest.mark.parametrize(("target", "right", "wrong"), FAULTS)
def test_an_example_with_a_fault_is_refused(
    target: str, right: str, wrong: str, tmp_path: Path
) -> None:
    words, changed = [target, *FEW, *NO_CAUSES, "--fail-fast"], []
    for path in sorted(EXAMPLES.glob(f"{Path(target).stem}.*")):
        text = path.read_text()
        broken = text.replace(right, wrong)
        changed += [path.name] if broken != text else []
        (tmp_path / path.name).write_text(broken)
        words += ["--description", path.name] if path.suffix == ".toml" else []
    assert len(changed) == 1
    done = run("certify", *words, cwd=tmp_path)
    assert done.returncode == 1, done.stdout + done.stderr
    assert done.stdout.splitlines()[0].startswith(f"{target.partition(':')[2]}: not certified")


@pytest.mark.slow
def test_the_cells_of_the_notebook_run_in_order() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert [x for x in code if x["outputs"] or x["execution_count"] is not None] == []
    written = json.dumps(["".join(cell["source"]) for cell in code])
    done = started(program=("-P", "-c", CELLS), cwd=EXAMPLES, timeout=LONGEST, given=written)
    assert done.returncode == 0, done.stdout + done.stderr
    for said in (
        "<strong>attend</strong>: <strong style=",
        ">certified (quick)</strong>",
        "<strong>attend_wrongly</strong>",
        "not certified, for 1 cause",
        "Divides scores by D instead of its square root.",
        "elements are wrong; the worst is at",
        "is_causal",
    ):
        assert said in done.stdout


def test_the_page_has_every_example_and_its_command() -> None:
    files = [x for x in EXAMPLES.iterdir() if x.is_file() and x.name != "README.md"]
    assert [x.name for x in files if f"({x.name})" not in PAGE] == []
    commands = [" ".join(found) for x in files for found in COMMAND.findall(x.read_text())]
    assert len(commands) == len(FILES) + 1
    assert [command for command in commands if f"`{command}`" not in PAGE] == []
