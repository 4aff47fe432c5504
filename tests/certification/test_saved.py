"""What people kept still serves: a certificate and a script of before attention had a chapter."""

import json
from pathlib import Path

import numpy as np
import pytest

from spec.attention.notation import Problem
from spec.certification.ledger.reading import loaded
from spec.kinds import KINDS
from spec.saved import problem_from_json, problem_to_json
from spec.written import arrays
from tests.shell import run

SAVED = Path(__file__).parent / "saved"


def test_a_certificate_is_read_and_compared() -> None:
    path = SAVED / "certificate.json"
    found = loaded(path)
    assert found.exit_code == 1
    assert "looks like drops_the_row_term (incident class C21)" in str(found)
    done = run("compare", str(path), str(path))
    assert (done.returncode, done.stdout.strip()) == (0, "nothing changed")


@pytest.mark.slow
def test_a_script_runs() -> None:
    done = run(program=("-c", (SAVED / "script.txt").read_text()))
    assert (done.returncode, done.stdout.strip()) == (0, "A1 holds here"), done.stderr


def test_long_runs_of_a_number_are_told_as_runs() -> None:
    q = np.ones((1, 1, 500, 2))
    q[0, 0, 100:300], q[0, 0, 300:] = -0.0, np.inf
    written = problem_to_json(KINDS["attention"].core("float32").but(q=q))
    assert written["q"]["runs"] == [[1.0, 200], [-0.0, 400], ["inf", 400]]
    back = problem_from_json(Problem, json.loads(json.dumps(written))).q
    assert (back.shape, back.tobytes()) == (q.shape, q.tobytes())


@pytest.mark.parametrize("kind", KINDS)
def test_problems_of_each_kind_survive_json(kind: str) -> None:
    problem = KINDS[kind].core("float32")
    back = problem_from_json(KINDS[kind].problem, json.loads(json.dumps(problem_to_json(problem))))
    there, found = arrays(problem), arrays(back)
    assert there.keys() == found.keys()
    for name, x in there.items():
        assert x.dtype == found[name].dtype
        assert np.array_equal(x, found[name])
