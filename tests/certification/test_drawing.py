"""What is drawn for a clause: the simplest first, none twice, from the seed alone."""

import pytest

from spec import CLAUSES
from spec.attention.record import KINDS
from spec.certification.judging.choices import BACKEND
from spec.certification.judging.drawing import BUNDLE, Enough, draw
from spec.domain import Scope
from tests import shell

SCOPE = Scope("float32", KINDS)
PROGRAM = """
import hashlib, sys
import hypothesis
from spec import CLAUSES
from spec.attention.record import KINDS
from spec.certification.judging import drawing
from spec.domain import Scope

backend, module = sys.argv[1:]
drawing.SETTINGS = hypothesis.settings(drawing.SETTINGS, backend=backend)
if module:
    __import__(module)
digest = hashlib.sha256()
scope = Scope("float32", KINDS)
drawing.draw(CLAUSES["V2"], scope, 60, 0, lambda x: digest.update(repr(x).encode()))
print(digest.hexdigest())
"""


def problems(count, number="V2", seed=0):
    found = []
    draw(CLAUSES[number], SCOPE, count, seed, found.append)
    return found


def test_the_simplest_problem_comes_first_and_none_comes_twice():
    found = [repr(problem) for problem in problems(3 * BUNDLE)]
    assert len(set(found)) == len(found) == 3 * BUNDLE
    first = problems(1)[0]
    assert repr(first) == found[0]
    assert (first.B, first.H, first.N, first.M, first.D) == (1, 1, 1, 1, 1)


def test_another_seed_draws_other_problems():
    one, other = ([repr(x) for x in problems(BUNDLE, seed=seed)] for seed in (0, 1))
    assert one[0] == other[0]
    assert not set(one[1:]) & set(other[1:])


def test_enough_is_enough():
    seen = []

    def examine(problem):
        seen.append(problem)
        if len(seen) == 5:
            raise Enough

    draw(CLAUSES["V2"], SCOPE, 3 * BUNDLE, 0, examine)
    assert len(seen) == 5


@pytest.mark.parametrize(("backend", "alike"), [(BACKEND, True), ("hypothesis", False)])
def test_problems_do_not_depend_on_the_code_that_is_loaded(backend, alike, tmp_path):
    """Where its constants were tried, a fault once mended, the seed drew other problems."""
    (tmp_path / "attentive.py").write_text(f"LENGTHS = {list(range(10_001, 10_101))}\n")
    (tmp_path / "draw.py").write_text(PROGRAM)
    found = [
        shell.run(backend, module, cwd=tmp_path, program=("draw.py",))
        for module in ("", "attentive")
    ]
    assert [run.returncode for run in found] == [0, 0], found
    assert (found[0].stdout == found[1].stdout) == alike
