"""The script of a described layer is plain: it runs in any folder, while the fault is there."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spec import certify
from spec.certification.explaining.script import NEVER
from spec.layer.plug.expressions import Expression
from tests.layer.test_described import FOLDER, OF
from tests.walked import ROOT

pytestmark = pytest.mark.torch
LAYERS = """
import torch
import tests.targets.described as there
from tests.targets.described import Config, embeddings

FACTOR = 1.5
out = 0.0

def by_a_factor(y):
    return (FACTOR * y[0], *y[1:]) if isinstance(y, tuple) else FACTOR * y
"""
FAULTY = """
class {name}({of}):
    def forward(self, *inputs, **options):
        return by_a_factor(super().forward(*inputs, **options))
"""
BUILT = "\nlayer = Built(8, 2, batch_first=True)\n"
ASKED = (  # a layer, and a clause that it fails
    ("CausalSelfAttention", "L1"),  # always causal, and has a buffer
    ("CausalSelfAttention", "L3"),
    ("BertSelfAttention", "L1"),  # has no output projection
    ("BertSelfAttention", "L3"),
    ("LlamaAttention", "L1"),  # needs embeddings of positions
    ("layer", "L1"),  # an object
)
ALL = """
import runpy, sys
for file in sys.argv[1:]:
    try:
        runpy.run_path(file)
    except SystemExit as end:
        print("code", int(end.code))
"""


def few(target: str, description: Path | None, clause: str) -> str:
    """The script of a clause that a layer fails."""
    options = {} if description is None else {"description": str(description)}
    settled = {"profile": "quick", "dtypes": ("float32",), "fail_fast": True}
    made = certify(target, clauses=(clause,), isolation="none", **options, **settled)  # type: ignore[arg-type]
    examples = (failure.counterexample for failure in made.failures)
    return next(x.script for x in examples if x is not None)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file of layers that are wrong by a factor."""
    found = tmp_path_factory.mktemp("home") / "layers_by_a_factor.py"
    parents = {"Built": "torch.nn.MultiheadAttention", **{x: f"there.{x}" for x in OF}}
    faulty = (FAULTY.format(name=name, of=of) for name, of in parents.items())
    found.write_text("\n".join([LAYERS, *faulty, BUILT]))
    yield found
    sys.modules.pop(found.stem, None)


def codes(scripts: list[str], folder: Path) -> list[str]:
    """The exit code of each script, in a folder of its own."""
    files = [f"{place}.py" for place, _ in enumerate(scripts)]
    for name, text in zip(files, scripts, strict=True):
        (folder / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", ALL, *files],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    return [x.removeprefix("code ") for x in done.stdout.splitlines() if x.startswith("code ")]


@pytest.mark.slow
def test_each_ends_with_0_only_when_the_fault_is_gone(file: Path, tmp_path: Path) -> None:
    described = {name: FOLDER / of for name, of in OF.items()}
    found = [few(f"{file}:{name}", described.get(name), clause) for name, clause in ASKED]
    unusual = tmp_path / "unusual.toml"  # no script can have a variable that is called so
    unusual.write_text(
        (FOLDER / OF["PackedAttention"]).read_text().replace("(A,", "(A + int(out),")
    )
    assert not any("from spec" in text or NEVER in text for text in found)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        found.append(few(f"{file}:PackedAttention", Path(unusual.name), "L1"))
    assert NEVER in found[-1]
    assert f"description={str(unusual)!r}" in found[-1]

    folder = tmp_path / "elsewhere"
    folder.mkdir()
    assert codes(found, folder) == ["1"] * len(found)
    file.write_text(file.read_text().replace("FACTOR = 1.5", "FACTOR = 1.0"))
    assert codes(found, folder) == ["0"] * len(found)


def test_an_expression_of_several_lines_is_one_line_of_a_script() -> None:
    one = Expression.of("make", "Mine(A,  # the width\n    H)", ("A", "H"), {"Mine": max})
    assert (one.line, one.is_call, one.names) == ("Mine(A, H)", True, ("Mine",))
    assert one(A=1, H=2) == 2
    other = Expression.of("make", "Mine(A, 3) + 1", ("A",), {"Mine": max})
    assert (other.line, other.is_call) == ("Mine(A, 3) + 1", False)
