"""Targets that do what no function should: each gets a line or a verdict, and no traceback.

Those that exit are in `test_command_line_crashes`.
"""

import re

import pytest

from tests.shell import FEW, run

RIGHT = "import os, signal, sys\nfrom tests.targets import right\n"
ATTEND = "def attend(query, key, value, attn_mask=None):\n"
ANSWER = "    return right(query, key, value, attn_mask)\n"
FORK = ("--isolation", "fork")
GONE = "class Gone(BaseException):\n    pass\n\n"


def judged(tmp_path, source, *words):
    (tmp_path / "odd.py").write_text(source)
    done = run("certify", "odd.py:attend", *FEW, "--clause", "V2", *words, cwd=tmp_path)
    assert "Traceback" not in done.stdout + done.stderr
    return done


@pytest.mark.parametrize("raised", ["KeyboardInterrupt: ", "Gone: with the wind"])
def test_what_is_raised_on_import_is_told_in_a_line(raised, tmp_path):
    name, _, words = raised.partition(": ")
    done = judged(tmp_path, f"{GONE}raise {name}({words!r})\n")
    assert done.returncode == 2
    assert done.stderr == f"error: odd.py cannot be imported: {raised}\n"


def test_what_is_raised_in_a_call_refuses(tmp_path):
    refuse = (
        "    if attn_mask is not None:\n"
        "        boolean = attn_mask.dtype == bool\n"
        "        raise KeyboardInterrupt('of mine') if boolean else Gone('elsewhere')\n"
    )
    done = judged(tmp_path, GONE + RIGHT + ATTEND + refuse + ANSWER)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "unsupported: a boolean mask [float32]: KeyboardInterrupt: of mine" in done.stdout
    assert "unsupported: an additive mask [float32]: Gone: elsewhere" in done.stdout


@pytest.mark.quick("sys.stdout = sys*")
@pytest.mark.parametrize(
    ("before", "inside", "how"),
    [
        ("sys.stdout.close()\nos.chdir('/')\n", "    os.kill(os.getpid(), signal.SIGINT)\n", FORK),
        ("sys.stdout.close()\nos.chdir('/')\n", "", ()),
        ("sys.stdout = sys.stderr = None\n", "    os.dup2(0, 1), os.dup2(0, 2)\n", ()),
    ],
)
def test_what_is_done_beside_changes_nothing(before, inside, how, tmp_path):
    done = judged(tmp_path, RIGHT + before + ATTEND + inside + ANSWER, *how)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout


@pytest.mark.slow
def test_who_deletes_himself_is_judged(tmp_path):
    source = f"{RIGHT}os.remove(__file__)\ndel sys.modules[__name__]\n{ATTEND}"
    source += "    return 2 * right(query, key, value, attn_mask)\n"
    done = judged(tmp_path, source, *FORK)
    assert done.returncode == 1
    assert re.search(r"the output is wrong in \d+ of \d+ problems\n", done.stdout)


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import os\nprint('bye')\nos._exit(0)\n", "exit code 0 while it was loaded; it printed"),
        (f"import os\n{ATTEND}    os.closerange(0, 99)\n", "exit code 1 while probing a plain"),
    ],
)
def test_who_leaves_is_told_how(source, said, tmp_path):
    # a target that returns nothing is tried as a function of torch as well, without a backend
    done = judged(tmp_path, source, "--backend", "numpy")
    assert done.returncode == 3
    assert f"the process ended with {said}" in " ".join(done.stdout.split())
