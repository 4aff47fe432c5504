"""A function as torch.compile runs it: what is judged, said and shown is what was compiled."""

import json
from functools import partial

import pytest

from spec import certify
from spec.backends import library
from tests import shell

pytestmark = pytest.mark.torch
TARGETS = "tests.targets.compiled_torch"
QUICK = {"profile": "quick", "dtypes": ("float32",), "fail_fast": True}


@pytest.fixture(autouse=True)
def without_a_compiler(monkeypatch):
    """What is built is left out, as in the targets; what is traced, kept and guarded is not."""
    import torch

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))


def judged(name, way, *clauses, **options):
    return certify(f"{TARGETS}:{name}", compiled=way, clauses=clauses, **QUICK, **options)


@pytest.mark.parametrize("way", ["static", "dynamic"])
def test_a_right_function_is_certified_compiled_and_says_so(way):
    certificate = judged("right", way, "A1", "A4")
    assert certificate.ledger["holds"] == 2
    assert certificate.passed
    assert certificate.programs > 10
    text = str(certificate)
    assert f"compiled      {way}\n" in text
    assert f"--compiled {way}" in text.splitlines()[-1]
    assert json.loads(json.dumps(certificate.to_json()))["compiled"] == way


def test_what_is_wrong_compiled_alone_is_refused_and_its_script_shows_it(tmp_path):
    name = "leaves_out_the_scale"
    words = ("certify", f"{TARGETS}:{name}", *shell.FEW, "--clause", "A1", "--fail-fast")
    assert shell.run(*words).returncode == 0
    done = shell.run(*words, "--compiled", "static", "--report", str(tmp_path))
    assert done.returncode == 1, done.stdout + done.stderr
    (script,) = tmp_path.glob("*.py")
    text = script.read_text()
    assert f"torch.compile({name}, dynamic=False)(q, k, v)" in text
    assert "from spec" not in text
    assert shell.run(program=(str(script),)).returncode == 1
    script.write_text(text.replace(f"torch.compile({name}, dynamic=False)", name))
    assert shell.run(program=(str(script),)).returncode == 0


@pytest.mark.parametrize("name", ["bakes_in", "with_lse"])
def test_what_a_program_has_for_good_and_what_a_function_carries_are_compiled(name):
    clauses = ("A1",) if name == "bakes_in" else ("S13",)
    assert judged(name, None, *clauses).passed
    failures = judged(name, "static", *clauses).failures
    assert {v.clause for v in failures} == {*clauses}


def test_a_part_that_is_not_compiled_is_told_and_nothing_but_such_parts_is_no_good(monkeypatch):
    certificate = judged("breaks", "static", "A1")
    assert certificate.passed
    said = "torch.compile gave up on a part while it was probed: Skip calling"
    assert any(note.startswith(said) for note in certificate.notes)
    words = ("certify", f"{TARGETS}:hides", *shell.FEW, "--compiled", "static")
    nothing = "error: --compiled static: nothing of hides was compiled\n"
    assert shell.run(*words).stderr == nothing
    monkeypatch.setenv("TORCH_COMPILE_DISABLE", "1")
    done = shell.run(*words[:1], f"{TARGETS}:right", *words[2:])
    assert (done.returncode, done.stderr) == (2, nothing.replace("hides", "right"))


def test_more_shapes_than_torch_compiles_for_are_compiled_and_its_limit_is_as_it_was():
    import torch
    from torch._dynamo import config
    from torch._dynamo.utils import counters

    from tests.targets import compiled_torch

    before, limit = counters["stats"]["unique_graphs"], config.recompile_limit
    compiled = library("torch").compilers["static"](compiled_torch.right)
    for length in range(1, limit + 4):
        x = torch.ones(1, 1, length, 7)
        assert torch.equal(compiled(x, x, x), compiled_torch.right(x, x, x))
    assert counters["stats"]["unique_graphs"] - before == limit + 3
    with pytest.raises(RuntimeError):
        compiled(torch.ones(1, 1, 1, 3), torch.ones(1, 1, 1, 4), torch.ones(1, 1, 1, 3))
    assert config.recompile_limit == limit


def test_a_layer_is_compiled_as_a_module_and_its_script_too(tmp_path):
    words = ("certify", f"{TARGETS}:Layer", *shell.FEW, "--clause", "L1", "--fail-fast")
    assert shell.run(*words).returncode == 0
    done = shell.run(*words, "--compiled", "static", "--report", str(tmp_path))
    assert done.returncode == 1, done.stdout + done.stderr
    (script,) = tmp_path.glob("*.py")
    assert "\nlayer.compile(dynamic=False)\n" in script.read_text()
    assert shell.run(program=(str(script),)).returncode == 1


@pytest.mark.parametrize(
    ("target", "words", "said"),
    [
        (f"{TARGETS}:right", ("traced",), "--compiled traced: PyTorch compiles static or dynamic"),
        ("implementations.dense:attend", ("static",), "--compiled static: NumPy compiles nothing"),
        (
            f"{TARGETS}:Cache",
            ("static",),
            "torch.compile is for functions and modules, and Cache is a class of other objects",
        ),
        ("oracles.digits:MANY_DIGITS", ("static",), "oracles.digits:MANY_DIGITS is a record already"),
    ],
)
def test_what_cannot_be_compiled_so_is_no_good(target, words, said):
    done = shell.run("certify", target, "--profile", "quick", "--compiled", *words)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
