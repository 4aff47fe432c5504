"""What an answer is wrong after: told in a word, and shown by a script that asks both in order."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from spec import certify
from spec.certification import rerun
from spec.certification.diagnosing.memory import nobody, remembered
from spec.kinds import KINDS
from tests.certification.test_sharing import BEGIN, said
from tests.night import deep
from tests.shell import run
from tests.telling import shown

LARGEST = """\
import numpy as np

longest = 0

def attend(query, key, value):
    global longest
    longest = max(longest, key.shape[2])
    s = query @ np.swapaxes(key, -1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ value * query.dtype.type(key.shape[2] / longest)
"""
MASKED = """\
import numpy as np

masks = {}

def attend(query, key, value, attn_mask=None):
    given = np.zeros((), query.dtype) if attn_mask is None else attn_mask
    mask = masks.setdefault((given.shape, given.dtype), given)
    s = query @ np.swapaxes(key, -1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))
    s = np.where(mask, s, -np.inf) if mask.dtype == bool else s + mask
    m = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(m), m, 0))
    total = e.sum(-1, keepdims=True)
    return e / np.where(total > 0, total, 1) @ value
"""
KEPT = {
    "a mask by its shape": ("masked.py:attend", "attention", "M", "another mask"),
    "the largest size": ("mine.py:attend", "attention", "A1", "another M"),
    "the largest size, of a module": ("mine:attend", "attention", "A1", "another M"),
    "an array": (
        "spec.feed_forward.mistakes.backward:remembers_outputs_by_shape",
        "feed-forward",
        "F1,F24",
        "another x",
    ),
}
AT_NIGHT = ("a mask by its shape", "the largest size")  # told as the others are
ON_LINUX = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux")


@pytest.mark.quick("an array")
@ON_LINUX
@pytest.mark.parametrize("kept", [deep(x) if x in AT_NIGHT else x for x in KEPT])
def test_what_is_kept_is_told_and_a_script_asks_for_both(kept, tmp_path):
    (tmp_path / "mine.py").write_text(LARGEST)
    (tmp_path / "masked.py").write_text(MASKED)
    target, about, clauses, what = KEPT[kept]
    words = ("--kind", about, "--backend", "numpy", "--profile", "quick", "--clause", clauses)
    words += ("--seed", "1")
    done = run("certify", target, *words, "--json", "said.json", cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert f"the output is wrong after a call with {what}" in " ".join(done.stdout.split())
    (cause,) = json.loads((tmp_path / "said.json").read_text())["causes"]
    assert cause["counterexample"]["looks_like"] == []
    script = cause["counterexample"]["script"]
    assert script.count(f"{target.partition(':')[2]}(") == 2
    assert "rerun" not in script
    (tmp_path / "cause.py").write_text(script)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    shown = subprocess.run(
        [sys.executable, "../cause.py"], cwd=elsewhere, capture_output=True, text=True, check=False
    )
    assert (shown.returncode, shown.stdout[:4]) == (1, "got "), shown.stderr


def test_a_clause_that_is_run_again_is_run_on_both(tmp_path, capsys):
    """As scripts do where the calls are too many to be written down."""
    (tmp_path / "mine.py").write_text(LARGEST)
    short = KINDS["attention"].core("float32")
    long = short.but(k=np.tile(short.k, (1, 1, 3, 1)), v=np.tile(short.v, (1, 1, 3, 1)))
    put = {"kind": "attention", "backend": "numpy"}
    assert rerun("A1", f"{tmp_path / 'mine.py'}:attend", short, before=long, **put) == 1
    assert "A1 is violated" in capsys.readouterr().out
    assert rerun("A1", f"{tmp_path / 'mine.py'}:attend", long, before=short, **put) == 0


TURNS = """
import itertools
from implementations.dense import attend as right

turn = itertools.count()

def attend(query, key, value):
    return right(query, key, value) + (next(turn) % 8 == 7)
"""


@pytest.mark.slow
def test_a_clause_whose_answer_comes_and_goes_is_run_until_it_is_broken(tmp_path):
    (tmp_path / "mine.py").write_text(TURNS)
    put = {"kind": "attention", "backend": "numpy"}
    words = ("--backend", "numpy", "--profile", "quick", "--dtype", "float64", "--clause", "A1")
    done = run("certify", "mine.py:attend", *words, "--json", "said.json", cwd=tmp_path)
    assert "a result changes from call to call" in " ".join(done.stdout.split())
    (cause,) = json.loads((tmp_path / "said.json").read_text())["causes"]
    script = cause["counterexample"]["script"]
    assert "times=64" in script
    (tmp_path / "cause.py").write_text(script)
    words = [sys.executable, "cause.py"]
    shown = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert shown.returncode == 1, shown.stderr
    problem = KINDS["attention"].core("float64")
    assert rerun("A1", "implementations.dense:attend", problem, times=3, **put) == 0


@pytest.mark.slow
def test_without_a_target_that_nobody_asked_a_script_asks_other_numbers_first():
    mistake = KINDS["merging"].mistakes["accumulates_gradients"]
    certificate = certify(mistake.target, kind="merging", dtypes=mistake.dtypes, profile="quick")
    (cause,) = certificate.causes
    assert "earlier calls" in cause.failure
    assert cause.counterexample.script.count("accumulates_gradients.backward(") == 2
    assert [*shown(certificate)] == [True]


def alone(answers):
    """A target that nobody has asked, as it answers problems in order."""
    return lambda put: ["wrong" if wrong else "" for wrong in answers(put[1])]


def kept(problems, remembers):
    """Whether each problem is answered wrong, by who keeps the first of what he is asked."""
    return [remembers(problem) != remembers(problems[0]) for problem in problems]


@pytest.mark.parametrize(
    ("remembers", "words"),
    [
        (lambda p: p.base, "a call with another base"),
        (lambda p: p.D, "a call with another D"),
        (lambda p: p.q.tobytes(), "a call with another q"),
        (lambda p: p.dtype, "a call with another dtype"),
    ],
)
def test_the_first_thing_that_changes_an_answer_is_named(remembers, words):
    kind = KINDS["rotary"]
    problem = kind.core("float64")
    asked, twists = alone(lambda x: kept(x, remembers)), kind.causes.twists
    told = remembered(asked, twists, "R14", problem, ("float64", "float32"))
    assert told is not None
    assert told[1] == words
    assert remembers(told[0]) != remembers(problem)


@pytest.mark.parametrize(
    "answers",
    [
        lambda x: [True] * len(x),  # wrong by itself
        lambda x: [False] * len(x),  # right, whatever came before
        lambda x: [place == 1 for place, _ in enumerate(x)],  # wrong once
        lambda _: [],
    ],
)
def test_what_comes_and_goes_or_is_wrong_by_itself_is_no_memory(answers):
    kind = KINDS["rotary"]
    put = kind.causes.twists, "R14", kind.core("float64"), ("float64",)
    assert remembered(alone(answers), *put) is None
    assert remembered(nobody, *put) is None


def test_the_same_call_may_be_what_an_answer_is_wrong_after():
    kind = KINDS["rotary"]
    counts = alone(lambda x: [place > 0 for place, _ in enumerate(x)])
    put = kind.causes.twists, "R14", kind.core("float64"), ("float64",)
    _, words = remembered(counts, *put)
    assert words == "the same call"


@ON_LINUX
class TestPristine:
    BEGIN = """
        from spec.certification.isolation.pristine import Pristine
        calls = []
        def asked(x):
            calls.append(x)
            if x == "die":
                os.kill(os.getpid(), signal.SIGSEGV)
            return 1 / 0 if x == "fail" else len(calls)
        pristine = Pristine(asked)
    """

    def test_every_answer_is_a_first_one(self):
        program = """
            asked("a"), asked("b")
            print(asked("c"), pristine("d"), pristine("e"))
        """
        assert said(textwrap.dedent(self.BEGIN) + textwrap.dedent(program)) == "3 1 1\n"

    def test_what_ends_without_an_answer_has_none_and_others_have(self):
        program = """
            print(pristine("die"), pristine("fail"), pristine("a"))
        """
        told = said(textwrap.dedent(self.BEGIN) + textwrap.dedent(program))
        assert told == "None None 1\n"

    def test_nobody_is_left_of_who_is_killed(self):
        reads, writes = os.pipe()
        program = textwrap.dedent(self.BEGIN) + "pristine('a')\nos.kill(here, signal.SIGKILL)\n"
        words = [sys.executable, "-c", BEGIN + program]
        with subprocess.Popen(words, pass_fds=[writes]) as process:
            os.close(writes)
            assert os.read(reads, 1) == b""  # nobody holds the other end
        os.close(reads)
        assert process.returncode == -9
