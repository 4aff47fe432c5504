"""What no call shows by itself is shown by several: the calls, and what a clause makes of answers.

The scripts are those of all mistakes of the catalogue that need more than one answer, or more than
an answer: claims about chance, objects that remember, arrays of the caller.
"""

import textwrap

import numpy as np
import pytest

from spec import about as clauses_about
from spec.backends import Unsuitable
from spec.certification.as_tests import runs
from spec.certification.explaining.derived import named, written
from spec.certification.explaining.looping import as_list, as_loops
from spec.certification.judging.examiner import with_counterexample
from spec.kinds import KINDS
from tests import shell
from tests.telling import needs_the_specification

NEEDS_THE_SPECIFICATION: dict[str, str] = {}  # of whose script that is true, and why
SEVERAL = [
    ("dropout", "ignores_the_seed", "D15"),
    ("dropout", "starts_the_seed_again", "D16"),
    ("dropout", "draws_one_mask_for_ever", "D16"),
    ("dropout", "forgets_the_rate_in_evaluation", "D16"),
    ("dropout", "draws_four_bits", "D17"),
    ("dropout", "drops_keys_in_blocks", "D18"),
    ("dropout", "repeats_the_mask_every_four_queries", "D19"),
    ("dropout", "starts_each_head_at_the_seed", "D20"),
    ("dropout", "shares_the_mask_over_the_batch", "D21"),
    ("dropout", "drops_large_weights", "D22"),
    ("alibi", "leaves_the_future_infinite", "R38"),
    ("alibi", "leaves_the_future_undefined", "R38"),
    ("cache", "shares_its_memory_between_caches", "C37"),
    ("cache", "answers_into_the_same_array", "C38"),
    ("cache", "keeps_the_callers_arrays", "C39"),
    ("layer", "climbs", "L22"),
    ("layer", "evaluates_for_ever", "L41"),
    ("layer", "normalises_its_input_in_place", "L42"),
    ("layer", "answers_in_the_memory_of_the_query", "L42"),
    ("layer", "remembers_answers_to_a_shape", "L43"),
    ("layer", "answers_otherwise_every_third_time", "L43"),
    ("layer", "loads_keys_before_queries", "L44"),
]
# Draw from the source that the library has, or from one that is handed over.
MASKS = {
    "np.random.seed(seed)": ("", "np.random.random(shape)"),
    "seed=seed": (", seed=0", "np.random.default_rng(seed).random(shape)"),
    "torch.manual_seed(seed)": ("", "torch.rand(shape)"),
    "generator=torch.Generator().manual_seed(seed)": (
        ", generator=None",
        "torch.rand(shape, generator=generator)",
    ),
}


def script_of(target, clause, dtype="float32", **how):
    """The script for what a target does to a clause, in this process."""
    how |= {"isolation": "none"}
    judge = runs(target, profile="quick", clauses=clause, dtypes=dtype, **how)[0]
    verdict, problem = judge.examiner.verdict(clause, dtype, "strict")
    judge.examiner.patience = 0.0
    return with_counterexample(judge.examiner, verdict, problem).counterexample.script


def mended(mistake):
    """The right program in the place of a wrong one."""
    making = __import__(f"{mistake.target.__module__.rpartition('.')[0]}.making", fromlist=["x"])
    right, program = making.wrong.args
    return program(right)


@pytest.mark.quick(
    "alibi-leaves_the_future_infinite*",
    "alibi-leaves_the_future_undefined*",
    "layer-answers_in*",
    "layer-normalises*",
    "layer-loads*",
    "dropout-ignores*",
    "cache-answers*",
    "cache-keeps*",
    "layer-answers_otherwise*",
    "dropout-starts_the*",
    "dropout-forgets*",
    "dropout-draws_one*",
)
@pytest.mark.parametrize(("about", "name", "clause"), SEVERAL)
def test_a_script_of_several_calls_needs_the_target_alone(about, name, clause, monkeypatch):
    mistake = KINDS[about].mistakes[name]
    module = mistake.target.__module__
    promise = clauses_about(about)[clause].promise
    how = {"kind": about, "seed": 2, "promises": (promise,) if promise else ()}
    script = script_of(f"{module}:{name}", clause, mistake.dtypes[0], **how)
    assert needs_the_specification(script) is (name in NEEDS_THE_SPECIFICATION)
    assert len(script.splitlines()) <= 45
    done = shell.script_here(script)
    assert (bool(done.returncode), bool(done.stdout)) == (True, True)
    monkeypatch.setattr(f"{module}.{name}", mended(mistake))
    assert shell.script_here(script).returncode == 0


@pytest.mark.quick("np*")
@pytest.mark.parametrize(
    "line", [pytest.param(x, marks=[pytest.mark.torch] * ("torch" in x)) for x in MASKS]
)
def test_chance_is_told_as_the_target_has_it(tmp_path, line):
    """One mask for all batch elements, whatever it is drawn from."""
    parameter, drawn = MASKS[line]
    text = f"""
        import {"torch" if "torch" in line else "numpy as np"}
        def attend(query, key, value, dropout_p=0.0{parameter}):
            w = {"torch" if "torch" in line else "np"}.exp(query @ key.swapaxes(-1, -2))
            shape = (1, *w.shape[1:])
            kept = {drawn} >= dropout_p
            w = w / w.sum(-1)[..., None] * kept / (1 - dropout_p)
            return w.{"to" if "torch" in line else "astype"}(value.dtype) @ value
    """
    path = tmp_path / f"{tmp_path.name}.py"
    path.write_text(textwrap.dedent(text))
    script = script_of(f"{path}:attend", "D21", kind="dropout")
    assert line in script
    assert not needs_the_specification(script)
    (tmp_path / "cause.py").write_text(script)
    if "torch" in line:  # here, as a process imports it for seconds
        done = shell.script_here(script)
    else:
        done = shell.run(program=("cause.py",), cwd=tmp_path, path=[])
    assert (done.returncode, done.stdout.split()[0]) == (1, "got"), done


def test_an_array_knows_how_it_came_about():
    x, y = named(np.arange(6).reshape(2, 3), "x"), named(np.ones(3), "y")
    made = np.where((x > 1) & ~np.isnan(x), -x @ y[:, None], 0)[0, ..., :1]
    found = {}
    exec("\n".join(written(made=made)), {"np": np, "x": np.asarray(x), "y": np.ones(3)}, found)
    assert np.array_equal(found["made"], made)
    twice = x + 1
    assert written(z=twice * (~twice[0])) == ["x = x + 1", "z = x * (~x[0])"]
    for lost in (np.add.reduce(x) + 1, np.split(x, 2)[0], np.add(x, 1, out=twice), twice):
        with pytest.raises(Unsuitable):
            written(z=lost)
    x[0] = 2
    with pytest.raises(Unsuitable):
        written(z=x)


def test_texts_that_count_up_are_a_loop():
    assert as_list([f"f({i}, 0.5)" for i in range(3, 7)]) == "[f(i, 0.5) for i in range(3, 7)]"
    assert as_list(["f(1)", "f(3)", "f(4)"]) == "[f(1), f(3), f(4)]"
    assert as_list(["f(1)", "f(2)"]) == "[f(1), f(2)]"
    assert as_list(["f(0.1)", "f(0.2)", "f(0.3)"]) == "[f(0.1), f(0.2), f(0.3)]"
    blocks = [["a"], *([f"x = {i}", "f(x)"] for i in range(5)), ["b"], ["b"], ["b"]]
    loops = [
        "a",
        "for seed in range(5):",
        "    x = seed",
        "    f(x)",
        "for _ in range(3):",
        "    b",
    ]
    assert as_loops(blocks, "seed") == loops
