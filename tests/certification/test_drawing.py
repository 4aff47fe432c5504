"""What is drawn for a clause: the simplest first, none twice, from the seed alone."""

import random

import numpy as np
import pytest

from spec import CLAUSES
from spec.attention.record import KINDS
from spec.certification.judging.drawing import same_chances, series
from spec.domain import Scope
from tests import shell

SCOPE = Scope("float32", KINDS)
MANY = 200


def problems(count, number="V2", seed=0):
    return [repr(problem) for problem in series(CLAUSES[number], SCOPE, count, seed)]


def test_the_simplest_problem_comes_first_and_none_comes_twice():
    assert len({*problems(MANY)}) == MANY
    first = next(series(CLAUSES["V2"], SCOPE, 1, 0))
    assert (first.B, first.H, first.N, first.M, first.D) == (1, 1, 1, 1, 1)
    assert not first.v.any()


def test_who_wants_fewer_gets_the_first_of_them():
    assert problems(MANY)[:5] == problems(5)


@pytest.mark.slow
def test_another_seed_another_clause_and_another_dtype_draw_other_problems():
    one, other = (problems(MANY, seed=seed) for seed in (0, 1))
    assert one[0] == other[0]
    assert not {*one[1:]} & {*other[1:]}
    sizes = [x.v.shape for x in series(CLAUSES["V2"], SCOPE, MANY, 0)]
    narrow = Scope("bfloat16", KINDS)
    assert sizes != [x.v.shape for x in series(CLAUSES["V2"], narrow, MANY, 0)]
    assert sizes != [x.v.shape for x in series(CLAUSES["V3"], SCOPE, MANY, 0)]


def test_problems_are_the_same_in_every_process(tmp_path):
    """They depend on no hash of a string, and on nobody's global generator."""
    program = "from tests.certification.test_drawing import problems; print(problems(9))"
    (tmp_path / "draw.py").write_text(program)
    assert shell.run(program=("draw.py",), cwd=tmp_path).stdout == f"{problems(9)}\n"


def test_a_judge_imports_no_hypothesis(tmp_path):
    """It takes a fifth of a second, in each of two processes."""
    program = "import sys, spec\nspec.certify('implementations.dense:attend', clauses='V2')\n"
    (tmp_path / "judge.py").write_text(f"{program}print('hypothesis' in sys.modules)")
    done = shell.run(program=("judge.py",), cwd=tmp_path)
    assert done.stdout == "False\n", done.stderr


def test_the_global_generators_begin_alike_and_go_on_as_they_were():
    def some():
        return random.random(), np.random.random()

    random.seed(5)
    np.random.seed(5)
    before = some()
    with same_chances():
        inside = some()
    after = some()
    with same_chances():
        assert some() == inside
    random.seed(5)
    np.random.seed(5)
    assert (before, after) == (some(), some())
