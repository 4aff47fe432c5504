"""`certify` in Python, with its target in a process of its own, or in this one."""

import pytest

from tests.shell import run

MINE = """\
import numpy as np

def attend(query, key, value):
    groups = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, groups, 1), np.repeat(value, groups, 1)
    scores = query @ np.swapaxes(key, -1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ value
"""
ENDS = """\
import os

def ends(query, key, value):
    os._exit(0)
"""
CALLS = """\
import mine
from spec import certify
from spec.backends import Unsuitable

if __name__ == "__main__":
    few = {{"profile": "quick", "dtypes": ("float32",), "clauses": ("A1",)}}
    try:
        print(certify({target}, **few, **{options}))
    except Unsuitable as reason:
        print("unsuitable:", reason)
"""
PROCESS = {"isolation": "process"}
NONE = "isolation     none: the target shares the process of its judge"


@pytest.fixture
def certified(tmp_path):
    """What `certify` prints of a target, called by a script."""

    def said(target, options):
        (tmp_path / "mine.py").write_text(MINE)
        (tmp_path / "judge.py").write_text(CALLS.format(target=target, options=options))
        done = run(cwd=tmp_path, program=("judge.py",))
        assert done.returncode == 0, done.stderr
        return done.stdout

    return said


@pytest.mark.quick("'mine.py:attend'")
@pytest.mark.parametrize("target", ["mine.attend", "'mine:attend'", "'mine.py:attend'"])
def test_a_function_of_a_module_is_judged_in_a_process_of_its_own(target, certified):
    said = certified(target, PROCESS)
    assert said.startswith("attend: certified (quick)")
    assert "\nisolation     process" in said


@pytest.mark.parametrize("target", ["lambda query, key, value: value", "certify.__call__"])
def test_what_no_other_process_can_import_is_told(target, certified):
    assert certified(target, PROCESS) == (
        "unsuitable: jobs, isolate and isolation need a target that another process can import, "
        "as module:name\n"
    )


def test_a_certificate_of_this_process_says_that_it_is_no_evidence(certified):
    said = certified("mine.attend", {})
    assert said.startswith("attend: certified (quick)")
    assert NONE in said


@pytest.mark.slow
@pytest.mark.quick("'mine:attend'")
@pytest.mark.parametrize("target", ["'mine:attend'", "'mine.py:attend'"])
def test_a_target_that_is_named_is_judged_as_on_the_command_line(target, certified):
    assert "\nisolation     process" in certified(target, {})
    assert NONE in certified(target, {"isolation": "none"})


@pytest.mark.slow
def test_a_target_cannot_end_the_process_that_asks_for_its_certificate(tmp_path):
    (tmp_path / "mine.py").write_text(
        f"{MINE}\nimport os\n\ndef ends(query, key, value):\n    os._exit(0)\n"
    )
    (tmp_path / "judge.py").write_text(CALLS.format(target="'mine.py:ends'", options={}))
    done = run(cwd=tmp_path, program=("judge.py",))
    assert "ends: incomplete" in done.stdout
    assert "the process ended with exit code 0" in done.stdout
