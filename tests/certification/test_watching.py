"""A target that ends the process in which it is judged: the end is told, whatever its exit code."""

import os
import signal
import subprocess
import sys
import time

import pytest

from spec.certification.watching import ENDED
from tests.shell import run

EXITS = """\
import os
from tests.targets import right
calls = 0

def attend(query, key, value, attn_mask=None, is_causal=False):
    global calls
    calls += 1
    if calls > {calls}:
        {ends}
    return right(query, key, value, attn_mask, is_causal)
"""
RUNS = "'A1-' in os.environ.get('PYTEST_CURRENT_TEST', '') and open('run', 'w')"
SLEEPS = "import time; open('asleep', 'w').close(); time.sleep(60)"
FEW = ("--profile", "quick", "--dtype", "float32", "--clause", "A1", "--isolation", "none")
PYTEST = ("-m", "pytest", "-p", "pytest_attention_spec", "-p", "no:cacheprovider")
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="no process is copied elsewhere")


@pytest.fixture
def under_pytest(tmp_path):
    """What `pytest --implementation` says of a target that ends its process in some call."""

    def tested(ends, calls, *words):
        (tmp_path / "mine.py").write_text(EXITS.format(ends=ends, calls=calls))
        words = ("--implementation", "mine.py:attend", *FEW, *words)
        return run(*words, cwd=tmp_path, program=PYTEST)

    return tested


@pytest.mark.quick("collected")
@pytest.mark.parametrize(
    ("ends", "how", "runs"),
    [
        ("os._exit(0)", "ended with exit code 0", False),
        (f"{RUNS} and os._exit(0)", "ended with exit code 0", True),
        (f"{RUNS} and os.abort()", "died of SIGABRT", True),
    ],
    ids=["collected", "run", "killed"],
)
def test_pytest_does_not_end_well_where_a_target_ends_it(ends, how, runs, under_pytest, tmp_path):
    done = under_pytest(ends, 0, "-p", "no:faulthandler")
    line = f"error: the process of the tests {how} before they were done\n"
    assert (done.returncode, done.stderr) == (ENDED, line)
    assert (tmp_path / "run").exists() is runs
    assert " passed" not in done.stdout


@pytest.mark.quick("words0*")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ((), 0, "passed in "),
        (("-k", "nothing_of_that_name"), 5, "deselected in "),
        (("--deviation", "A1=x"), 2, "error in "),
    ],
)
def test_of_others_it_tells_what_it_told_before(words, code, said, under_pytest):
    done = under_pytest("pass", 0, *words)
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.count(said) == 1


@pytest.mark.slow
def test_who_uses_it_in_the_wrong_way_is_told_once(under_pytest):
    done = under_pytest("pass", 0, "--no-such-option")
    assert done.returncode == 4
    assert done.stderr.count("unrecognized arguments: --no-such-option") == 1


@pytest.mark.slow
def test_a_process_that_is_copied_goes_on_once(tmp_path):
    """As a program that calls `pytest.main`."""
    (tmp_path / "mine.py").write_text(EXITS.format(ends="os._exit(0)", calls=40))
    words = ["-q", *PYTEST[2:], "--implementation", "mine.py:attend", *FEW]
    script = f"import pytest; print('the code is', int(pytest.main({words})))"
    done = run(program=("-c", script), cwd=tmp_path)
    assert (done.returncode, done.stdout.count("the code is 3\n")) == (0, 1), done.stderr


CERTIFIES = """\
from spec import certify
import mine

certificate = certify({target}, profile="quick", dtypes=["float32"], clauses=["A1"])
print(certificate.exit_code)
"""


@pytest.mark.quick("mine*")
@pytest.mark.parametrize("target", ["mine.attend", "'mine:attend', isolation='none'"])
def test_certify_is_not_ended_in_silence(target, tmp_path):
    (tmp_path / "mine.py").write_text(EXITS.format(ends="os._exit(0)", calls=40))
    done = run(program=("-c", CERTIFIES.format(target=target)), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")  # the exit code is that of the target
    name = "mine:attend" if "'" in target else "attend"
    assert done.stderr == f"error: the process ended while {name} was judged: no certificate\n"


@pytest.mark.slow
def test_what_is_isolated_has_a_certificate(tmp_path):
    (tmp_path / "mine.py").write_text(EXITS.format(ends="os._exit(0)", calls=10))
    script = CERTIFIES.format(target="'mine:attend'").replace("clauses", "isolate=True, clauses")
    done = run(program=("-c", script), cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "3\n", "")


@pytest.mark.parametrize("ends", ["", "raise KeyboardInterrupt"])
def test_of_what_comes_to_its_end_nothing_is_said(ends):
    done = run(
        program=(
            "-c",
            "from spec.certification.watching import watched\n"
            "for name in ('one', 'other'):\n"
            f"    with watched(name):\n        pass; {ends}\n",
        )
    )
    assert "error: the process ended" not in done.stderr
    assert done.stderr == "" or ends


def test_the_watcher_is_one_for_a_process_and_leaves_with_it():
    script = (
        "import os\nfrom spec.certification import watching\n"
        "for _ in range(3):\n    with watching.watched('x'):\n"
        "        print(watching._watcher[0][1].pid)\n"
    )
    done = run(program=("-c", script))
    (pid,) = {*done.stdout.split()}
    assert not os.path.exists(f"/proc/{pid}")


@pytest.mark.slow
@LINUX
def test_an_interrupt_is_left_to_the_copy(tmp_path):
    (tmp_path / "mine.py").write_text(EXITS.format(ends=SLEEPS, calls=40))
    words = [sys.executable, *PYTEST, "--implementation", "mine.py:attend", *FEW]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        words,
        cwd=tmp_path,
        env=environment,
        stdout=-1,
        stderr=-1,
        text=True,
        start_new_session=True,
    ) as process:
        while not (tmp_path / "asleep").exists():
            assert process.poll() is None
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (2, "")
    assert out.count("KeyboardInterrupt") >= 1
