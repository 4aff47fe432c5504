"""A program that answers wrongly, or not at all, ends in a verdict or in a line that says why."""

import json
import time

import numpy as np
import pytest

from spec.runner.errors import Absent, Ended
from spec.runner.foreign import foreign
from spec.runner.foreign.signatures import ProtocolError
from tests.languages.programs import DESCRIBED, written
from tests.shell import FEW, NO_CAUSES, run

X = np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2)
FINE = 'say("array out float32 1 1 2 2\\ndata 16\\n", data[:16])'


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ('say("hello\\n")', "wrote 'hello' where an answer has lines"),
        ('say("array out float32 1 1 2 2\\ndata 12\\n", data[:12])', "12 bytes in place of 16"),
        ('say("array out float32 1 -1\\ndata 4\\n")', "want whole numbers"),
        ('say("array out float8 1\\ndata 1\\n")', "want: array NAME FORMAT LENGTHS"),
        ('say("array out float32 999999 999999\\ndata 4\\n")', "larger array than any"),
        ('say("array out float32 1\\ndata\\n")', "want: data BYTES"),
        ('say("x" * 100_000)', "65536 bytes without a line 'data BYTES': 'xxx"),
        ('say("array o float32 1\\n" * 10_000)', "65536 bytes without a line 'data BYTES'"),
        ('say("array out float32 1 1 2 2\\ndata 16\\n", data[:16] + b"more")', "4 bytes after"),
        ('say("refused masks\\ndata 3\\n", b"abc")', "3 bytes in place of 0"),
        ("os.close(1)\ntime.sleep(60)", "closed its output"),
    ],
)
def test_an_answer_in_another_form_says_what_was_wrong_and_the_next_call_is_new(
    answer, said, tmp_path
):
    here = tmp_path / "here"  # it answers in this way once
    first = f"if os.path.exists({str(here)!r}):\n    {FINE}\n    continue\n"
    attend = foreign(written(tmp_path, f"{first}open({str(here)!r}, 'w')\n{answer}"))
    with pytest.raises(ProtocolError, match=said):
        attend(X, X, X)
    assert (attend(X, X, X) == X).all()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ('say("refused no masks\\ndata 0\\n")', NotImplementedError),
        ('say("error no masks\\ndata 0\\n")', RuntimeError),
    ],
)
def test_a_refusal_and_an_error_are_exceptions(answer, kind, tmp_path):
    attend = foreign(written(tmp_path, answer))
    with pytest.raises(kind, match=r"^no masks$"):
        attend(X, X, X)


def test_a_program_that_ends_is_known_by_how(tmp_path):
    attend = foreign(written(tmp_path, "sys.exit(7)"))
    with pytest.raises(Ended, match="ended with exit code 7"):
        attend(X, X, X)


@pytest.mark.parametrize(
    ("first", "said"),
    [
        ('say("hello\\n")', "does not describe itself: the program wrote 'hello'"),
        ("sys.exit(9)", "ended with exit code 9 before it described itself"),
        (DESCRIBED.replace("protocol 1", "protocol 2"), "want a line 'protocol 1'"),
        (DESCRIBED.replace("float32", "float8"), "formats are float64, float32"),
        (DESCRIBED.replace("{SIGNATURE}", "attend(q,"), "is no signature"),
        (DESCRIBED.replace("{SIGNATURE}", "attend(*q)"), "is no signature"),
        (DESCRIBED.replace("{SIGNATURE}", "at-tend(q)"), "want a line such as"),
        (DESCRIBED.replace("function", "formats"), "want a line such as"),
    ],
)
def test_a_program_that_describes_itself_wrongly_is_told_so(first, said, tmp_path):
    with pytest.raises(Absent, match=said):
        foreign(written(tmp_path, FINE, first))


def judged(folder, answer, *words):
    """The process, and the outcome of the definition's clause, of a program."""
    written(folder, answer)
    told = ("--clause", "A1", "--json", "found.json", *NO_CAUSES, *words)
    done = run("certify", "./program", *FEW, *told, cwd=folder)
    file = folder / "found.json"
    found = json.loads(file.read_text())["verdicts"] if file.exists() else []
    return done, [one["outcome"] for one in found if one["clause"] == "A1"]


@pytest.mark.quick('say("array out float32*')
@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("print('I give up', file=sys.stderr)\nsys.exit(7)", "I give up"),
        ('say("hello\\n")', "ProtocolError: the program wrote 'hello' where an answer has lines"),
        ('say("array out float32 1 1\\ndata 4\\n", data[:4])', "wrong shape: got (1, 1)"),
        ('say("data 0\\n")', "a tuple of 0"),
        ('say("array out float64 1\\ndata 8\\n", data[:8])', "wrong shape: got (1,)"),
    ],
)
def test_a_broken_program_is_not_certified(answer, said, tmp_path):
    done, _ = judged(tmp_path, answer)
    assert done.returncode != 0, done.stdout + done.stderr
    assert said in done.stdout + done.stderr


def test_a_program_that_never_answers_is_ended(tmp_path):
    begin = time.monotonic()
    done, _ = judged(tmp_path, "time.sleep(600)", "--call-timeout", "1")
    assert done.returncode != 0, done.stdout + done.stderr
    assert "no result after 1 s" in done.stdout
    assert time.monotonic() - begin < 60
