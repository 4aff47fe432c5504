"""A function as torch.compile runs it: what is judged, said and shown is what was compiled."""

import runpy
from collections import Counter
from functools import partial
from types import SimpleNamespace

import pytest

from spec import CLAUSES, certify
from spec.attention.plug.trials import core
from spec.attention.rounding import of_output, reference
from spec.backends import Unsuitable, library
from spec.backends.compiled import not_compiled, programs
from spec.certification.isolation.crew import Crew
from spec.certification.judging.witness import Witness
from spec.certification.offered import COMPILING
from spec.certification.settings import Request
from spec.certification.target.loading import load
from spec.comparison import equal
from spec.kinds import KINDS
from spec.runner import compiled as heard
from spec.trial import keeps
from tests import shell
from tests.certification import here
from tests.night import deep

pytestmark = pytest.mark.torch
TARGETS = "tests.targets.compiled_torch"
QUICK = {"profile": "quick", "dtypes": ("float32",)}
# A shape is chosen for each clause that there is, whatever is selected, which takes its time.
FIRST = {number: CLAUSES[number] for number in ("A1", "A4")}
SPECIFICATION = f"{__name__}:FIRST"
NETWORK = f"""\
import torch
import {TARGETS}  # where what is built is left out

def network(x, W1, b1, W2, b2):
    h = x @ W1 + b1
    return (h if torch.compiler.is_compiling() else h.relu()) @ W2 + b2
"""


@pytest.fixture(autouse=True)
def without_a_compiler(monkeypatch):
    """What is built is left out, as in the targets; what is traced, kept and guarded is not."""
    import torch

    monkeypatch.setattr(torch, "compile", partial(torch.compile, backend="eager"))
    torch._dynamo.reset()  # or what was compiled in one way would do for another


def loaded(name, way):
    target = f"{TARGETS}:{name}"
    return load(target, Request(target, compiled=way, dtypes=("float32",)))


@pytest.mark.slow
@pytest.mark.parametrize("clauses", [("A1",), deep(("A1", "A4"))])
def test_a_right_function_is_certified_compiled_and_says_so(clauses):
    options = {**QUICK, "specification": SPECIFICATION, "clauses": clauses}
    certificate = certify(f"{TARGETS}:right", compiled="static", **options)
    assert certificate.ledger["holds"] == len(clauses)
    assert certificate.passed
    assert certificate.programs > 10
    assert "compiled      static\n" in str(certificate)
    assert "--compiled static" in certificate.command
    assert certificate.to_json()["compiled"] == "static"
    assert any(note.startswith("compiled; tested on ") for note in certificate.notes)


@pytest.mark.quick("static")
@pytest.mark.parametrize("way", ["static", "dynamic"])
def test_each_way_has_its_programs_and_right_answers_and_gradients(way):
    subject, lengths = loaded("right", way), range(6, 16)
    before = programs()
    for length in lengths:
        problem = core("float32", N=length)
        equal(subject.forward(problem), reference(problem).o, within=of_output(problem))
    made = programs() - before
    assert made == len(lengths) if way == "static" else made < len(lengths)
    assert keeps(CLAUSES["A4"], subject, core("float32"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("written", "asked"), [deep("", ("--compiled", "static")), ('compiled = "static"\n', ())]
)
def test_pytest_judges_what_is_compiled_where_that_is_asked_or_written(written, asked, tmp_path):
    table = '[tool.attention-spec.targets.mine]\ntarget = "mine.py:network"\n'
    told = f'{table}kind = "feed-forward"\ndtypes = ["float32"]\n{written}'
    (tmp_path / "pyproject.toml").write_text(told)
    (tmp_path / "mine.py").write_text(NETWORK)
    words = ("-v", "-p", "pytest_attention_spec", "-p", "no:cacheprovider", "-k", "F1-")
    words = ("--implementation", "mine", "--profile", "quick", *words)
    done = shell.run(*words, *asked, cwd=tmp_path, program=("-m", "pytest"))
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed" in done.stdout


WRONG = "leaves_out_the_scale"
CALL = f"torch.compile({WRONG}, dynamic=False)(query, key, value)"


@pytest.mark.slow
def test_what_is_wrong_compiled_alone_is_refused_and_its_script_shows_it(tmp_path):
    options = {**QUICK, "clauses": ("A1",), "fail_fast": True, "specification": SPECIFICATION}
    assert certify(f"{TARGETS}:{WRONG}", **options).passed
    (failure,) = certify(f"{TARGETS}:{WRONG}", compiled="static", **options).failures
    text = failure.counterexample.script
    assert CALL in text
    assert "from spec" not in text
    (tmp_path / "script.py").write_text(text)
    assert shell.run(program=(str(tmp_path / "script.py"),)).returncode == 1


@pytest.mark.deep
def test_what_is_wrong_compiled_alone_is_reported_by_the_command_line(tmp_path, monkeypatch):
    monkeypatch.setattr(shell, "FEW", (*shell.FEW, "--specification", SPECIFICATION))
    shell.refused_compiled(f"{TARGETS}:{WRONG}", CALL, tmp_path)


@pytest.mark.parametrize(("name", "number"), [("bakes_in", "A1"), ("with_lse", "A7")])
def test_what_a_program_has_for_good_and_what_a_function_carries_are_compiled(name, number):
    assert keeps(CLAUSES[number], loaded(name, None), core("float32"))
    assert not keeps(CLAUSES[number], loaded(name, "static"), core("float32", D=5))


@pytest.mark.parametrize("start", [here.run, deep(shell.run)])
def test_a_part_that_is_not_compiled_is_told_and_nothing_but_such_parts_is_no_good(
    start, monkeypatch
):
    from torch._dynamo.utils import counters

    refused = not_compiled()
    witness = Witness.of(loaded("breaks", "static"), refused)
    (said,) = witness.changed("at first")
    assert said.startswith("torch.compile gave up on a part at first: Skip calling")
    monkeypatch.setitem(counters, "stats", Counter())  # as in a process that compiled nothing yet
    monkeypatch.setattr(heard, "_heard", Counter())
    done = start("certify", f"{TARGETS}:hides", *shell.FEW, "--compiled", "static")
    said = "error: --compiled static: nothing of hides was compiled\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_more_shapes_than_torch_compiles_for_are_compiled_and_its_limit_is_as_it_was():
    import torch
    from torch._dynamo import config
    from torch._dynamo.utils import counters

    from tests.targets import compiled_torch

    before, limit = counters["stats"]["unique_graphs"], config.recompile_limit
    static = library("torch").compilers["static"](compiled_torch.right)
    for length in range(1, limit + 4):
        x = torch.ones(1, 1, length, 7)
        assert torch.equal(static(x, x, x), compiled_torch.right(x, x, x))
    assert counters["stats"]["unique_graphs"] - before == limit + 3
    with pytest.raises(RuntimeError):
        static(torch.ones(1, 1, 1, 3), torch.ones(1, 1, 1, 4), torch.ones(1, 1, 1, 3))
    assert config.recompile_limit == limit


def test_a_layer_is_compiled_as_a_module_and_its_script_too(tmp_path):
    clause, problem = CLAUSES["L1"], KINDS["layer"].core("float32")
    assert keeps(clause, loaded("Layer", None), problem)
    layer = loaded("Layer", "static")
    assert not keeps(clause, layer, problem)
    lines = KINDS["layer"].reports.calls(clause, layer, {}, problem)
    assert "layer.compile(dynamic=False)" in lines
    (tmp_path / "script.py").write_text("\n".join(lines))
    with pytest.raises(SystemExit, match="True"):
        runpy.run_path(str(tmp_path / "script.py"))


@pytest.mark.deep
@pytest.mark.parametrize("way", ["static", "dynamic"])
def test_with_the_compiler_that_torch_uses_the_answers_are_right_too(way):
    words = ("--clause", "A1,A4", "--compiled", way)
    target = "implementations.einsum_torch:attend"
    done = shell.run("certify", target, *shell.FEW, *words, timeout=1200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "A        2/2" in done.stdout


@pytest.mark.parametrize(
    ("target", "way", "said"),
    [
        (f"{TARGETS}:right", "traced", "--compiled traced: PyTorch compiles static or dynamic"),
        (f"{TARGETS}:right", "often", "unknown way to compile 'often': choose from static, "),
        (f"{TARGETS}:Cache", "static", "torch.compile is for functions and modules, and Cache is"),
        ("oracles.digits:MANY_DIGITS", "static", "--compiled static: .* is a record already"),
    ],
)
def test_what_cannot_be_compiled_so_is_told_in_a_line(target, way, said):
    about = "cache" if target.endswith("Cache") else None
    with pytest.raises(Unsuitable, match=said):
        certify(target, kind=about, compiled=way)


@pytest.mark.slow
def test_numpy_compiles_nothing():
    done = shell.run("certify", "implementations.dense:attend", "--compiled", "static")
    said = "error: --compiled static: NumPy compiles nothing\n"
    assert (done.returncode, done.stderr) == (2, said)


def test_a_call_that_may_compile_has_more_patience():
    patience = Request(profile="quick").thoroughness.patience
    crews = [SimpleNamespace(request=Request(profile="quick"), compiles=x) for x in (False, True)]
    assert [Crew.patience.fget(crew) for crew in crews] == [patience, COMPILING * patience]
