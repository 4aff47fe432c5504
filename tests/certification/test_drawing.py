"""What is drawn for a clause: the simplest first, none twice, from the seed alone."""

import pytest

from spec import CLAUSES
from spec.attention.record import KINDS
from spec.certification.judging.drawing import BUNDLE, Enough, draw
from spec.certification.judging.uniform import BACKEND
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
opened = []
sys.addaudithook(lambda event, of: opened.append(str(of[0])) if event == "open" else None)
digest = hashlib.sha256()
scope = Scope("float32", KINDS)
for seed in range(100):
    drawing.draw(CLAUSES["V2"], scope, 2, seed, lambda x: digest.update(repr(x).encode()))
print(digest.hexdigest(), any("attentive.py" in name for name in opened))
"""


def problems(count, number="V2", seed=0):
    found = []
    draw(CLAUSES[number], SCOPE, count, seed, found.append)
    return found


def test_the_simplest_problem_comes_first_and_none_comes_twice():
    found = [repr(problem) for problem in problems(2 * BUNDLE)]
    assert len(set(found)) == len(found) == 2 * BUNDLE
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

    draw(CLAUSES["V2"], SCOPE, 2 * BUNDLE, 0, examine)
    assert len(seen) == 5


@pytest.mark.parametrize(("backend", "reads"), [(BACKEND, False), ("hypothesis", True)])
def test_problems_do_not_depend_on_the_code_that_is_loaded(backend, reads, tmp_path):
    """Nor is that read, as Hypothesis does by itself, for constants to try."""
    (tmp_path / "attentive.py").write_text(f"LENGTHS = {list(range(10_001, 10_101))}\n")
    (tmp_path / "draw.py").write_text(PROGRAM)
    modules = ("", "attentive")
    found = [shell.run(backend, name, cwd=tmp_path, program=("draw.py",)) for name in modules]
    assert [run.returncode for run in found] == [0, 0], found
    (one, _), (other, read) = (run.stdout.split() for run in found)
    assert one == other
    assert read == str(reads)
