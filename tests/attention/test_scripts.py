"""The script of a failure fails as long as the failure is there, and no longer.

Each is run by an interpreter of its own in an empty folder, as its reader would run it,
and again with a right function in the place of the wrong one.
"""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import CLAUSES
from spec.attention.mistakes import MISTAKES
from spec.attention.notation import Problem
from spec.attention.plug.trials import core
from spec.backends import Unsuitable
from spec.certification import certify
from spec.certification.as_tests import runs
from spec.certification.explaining.script import script
from spec.certification.judging.examiner import with_counterexample
from spec.certification.settings import Request
from spec.certification.target.loading import load
from spec.mistake import Mistake
from tests.night import deep
from tests.targets import faulty

ROOT = Path(__file__).parents[2]
DENSE = "from implementations.dense import attend"
RIGHT = {
    "reads_into_the_next_text": "from implementations.packed import attend",
    "reads_full_pages_alone": "from implementations.kvcache import attend",
}
LINES = 22  # at most, of which two find the target, and up to ten hold numbers
SHARE = 0.95  # of all scripts, in which the specification is not needed
HARMFUL = [mistake for mistake in MISTAKES.values() if not mistake.harmless]

# A clause, and who breaks it: of each section, and from each module of mistakes, at least one;
# clauses of one call, of several, and of more than numbers.
PAIRS = [
    ("A1", "returns_double_precision"),
    ("A2", "drops_the_row_term"),
    ("A1", "reads_full_pages_alone"),
    ("A7", "measures_lse_before_masking"),
    ("B8", "scales_by_model_width"),
    ("B10", "truncates_the_output"),
    ("C1", "ignores_causality"),
    ("H3", "reads_the_first_key_head"),
    ("J2", "reads_into_the_next_text"),
    ("K1", "adds_one_to_the_denominator"),
    ("M6", "ignores_the_mask"),
    ("M9", "gives_idle_queries_the_first_value"),
    ("P1", "favours_recent_keys"),
    ("T1", "scales_queries_in_place"),
    ("T2", "returns_the_same_buffer_again"),
    ("T4", "remembers_answers_by_shape"),
    ("T5", "ignores_strides"),
    ("T9", "starts_from_what_the_backward_pass_left"),
    ("X5", "forgets_to_rescale"),
]
AT_NIGHT = {"B8", "B10", "H3", "K1", "M9", "P1", "T5"}  # written as some that stay are
BY_LENGTH = """
def attend(query, key, value):
    from implementations.dense import attend
    return 2 * attend(*(x.swapaxes(1, 2) for x in (query, key, value))).swapaxes(1, 2)
"""
WITH_MASK = core("float32").but(mask=np.tri(4, 5, k=-1, dtype=bool))  # one query is idle
CAUSAL = core("float32").but(causal=True, corner="bottom-right")
CONVENTIONS = [
    ("A1", "bottom_right", {"causal": "bottom-right"}, CAUSAL),
    ("M2", "forbids", {"mask-means": "forbid"}, WITH_MASK),
    ("H4", "interleaved", {"grouping": "interleaved"}, core("float32", H=6, G=2)),
    ("M4", "nan_when_idle", {"fully-masked": "nan"}, WITH_MASK),
    ("M4", "uniform_when_idle", {"fully-masked": "uniform"}, WITH_MASK),
]


def found(clause: str, target: str, dtype: str, **options: Any) -> str:
    """The script of a clause that a target breaks; of bits, as if they were promised."""
    promised = [x for x in [CLAUSES[clause].promise] if x]
    how = {"profile": "standard", "promises": promised, **options}
    judge = runs(target, **how, clauses=clause, dtypes=dtype)[0]
    verdict, problem = judge.examiner.verdict(clause, dtype, "strict")
    assert problem is not None
    example = with_counterexample(judge.examiner, verdict, problem).counterexample
    assert example is not None
    return example.script


def written(clause: str, target: str, problem: Problem, **options: Any) -> str:
    """The script for a problem that breaks a clause."""
    request = Request(target=target, **options)
    return script(CLAUSES[clause], load(target, request), request, problem, "It is broken.")


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """What becomes of a script, with every warning an error."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", text],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def native(text: str) -> bool:
    """Whether a script gets along without the specification, and is short."""
    code = text.split('"""', 2)[2]
    return "spec.certification" not in code and len(code.strip().splitlines()) <= LINES


def repaired(text: str, right: str = DENSE) -> str:
    """The script with a right function under the name of the wrong one."""
    return re.sub(r"^from \S+ import (\w+)$", rf"{right} as \1", text, flags=re.MULTILINE)


def check(text: str, folder: Path, right: str = DENSE) -> str:
    """A script is short, fails, and no longer does with a right function; what it said at first."""
    assert native(text), text
    failed, held = run(text, folder), run(repaired(text, right), folder)
    assert failed.returncode == 1, f"{text}\n{failed.stdout}{failed.stderr}"
    assert held.returncode == 0, f"{text}\n{held.stdout}{held.stderr}"
    assert repaired(text, right) != text
    assert not list(folder.iterdir())
    return failed.stdout + failed.stderr


@pytest.mark.quick("A1-returns*", "T2*")
@pytest.mark.parametrize(
    ("clause", "name"),
    [deep(*x) if x[0] in AT_NIGHT else x for x in PAIRS],
    ids=[f"{c}-{n}" for c, n in PAIRS],
)
def test_a_script_fails_and_is_satisfied_by_the_right_function(
    clause: str, name: str, tmp_path: Path
) -> None:
    mistake = MISTAKES[name]
    target = f"{mistake.target.__module__}:{name}"
    check(found(clause, target, mistake.dtypes[0]), tmp_path, RIGHT.get(name, DENSE))


@pytest.mark.quick("A1*", "H4*", "M4-nan*")
@pytest.mark.parametrize(("clause", "name", "convention", "problem"), CONVENTIONS)
def test_a_script_knows_the_conventions_that_were_declared(
    clause: str, name: str, convention: dict[str, str], problem: Problem, tmp_path: Path
) -> None:
    text = written(clause, f"tests.targets.faulty:{name}", problem, conventions=convention)
    check(text, tmp_path, f"from tests.targets import {name}")


def test_two_conventions_are_declared_together() -> None:
    both = {"fully-masked": "nan", "mask-means": "forbid"}
    judged = runs(faulty.nan_where_hidden, profile="quick", clauses="A1,M4,M9", conventions=both)
    for clause in judged:
        clause()


def test_what_is_raised_is_raised_again(tmp_path: Path) -> None:
    text = written("P7", "tests.targets.faulty:refuses_many_keys", core("float32"))
    assert "ValueError" in check(text, tmp_path)


def test_two_calls_are_compared_where_neither_is_wrong(tmp_path: Path) -> None:
    text = written("P4", "tests.targets.faulty:looks_at_the_batch", core("float32"))
    assert "The clause compares" not in text
    check(text, tmp_path)


def test_what_fails_at_times_is_tried_again(tmp_path: Path) -> None:
    text = written("T3", "tests.targets.faulty:races", core("float32"))
    assert "for _ in range" in text
    check(text, tmp_path)


def test_a_function_in_a_file_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "mine.py").write_text(BY_LENGTH)
    text = written("A1", "mine.py:attend", core("float32"), layout="blhd")
    assert native(text)
    assert run(text, tmp_path / "empty").returncode == 1
    (tmp_path / "mine.py").write_text(BY_LENGTH.replace("2 *", ""))
    assert run(text, tmp_path / "empty").returncode == 0


def test_what_no_name_calls_is_run_by_its_clause(tmp_path: Path) -> None:
    text = written("A2", "tests.targets.faulty:record", core("float32"))
    assert "rerun" in text
    assert run(text, tmp_path).returncode == 1


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize(
    ("clause", "name"),
    [deep("T7", "forgets_keys_asked_for_alone"), ("T1", "writes_into_its_values")],
)
def test_a_script_of_torch_needs_torch_alone(clause: str, name: str, tmp_path: Path) -> None:
    text = written(clause, f"tests.targets.faulty_torch:{name}", core("bfloat16"), backend="torch")
    check(text, tmp_path, "from torch.nn.functional import scaled_dot_product_attention")


@pytest.mark.jax
def test_a_script_of_jax_needs_jax_alone(tmp_path: Path) -> None:
    pytest.importorskip("jax")
    text = written("B5", "tests.targets.faulty_jax:halves_the_key_gradients", core("float64"))
    check(text, tmp_path, "from tests.targets.faulty_jax import right")


@pytest.mark.deep
def test_hardly_a_script_needs_the_specification(tmp_path: Path) -> None:
    """One of each mistake: the first clause that it breaks."""
    texts = [text for mistake in HARMFUL for text in first(mistake)]
    share = sum(map(native, texts)) / len(texts)
    print(f"{share:.1%} of {len(texts)} scripts are native")
    assert share >= SHARE
    for text in texts:
        assert run(text, tmp_path).returncode == 1, text


def first(mistake: Mistake) -> list[str]:
    """The script of the first violation; none where not even a shape is right."""
    target = f"{mistake.target.__module__}:{mistake.name}"
    options = {"profile": "quick", "dtypes": mistake.dtypes[:1], "fail_fast": True}
    try:
        verdicts = certify(target, **options).verdicts
    except Unsuitable:
        return []
    return [v.counterexample.script for v in verdicts if v.counterexample is not None]
