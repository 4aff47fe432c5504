"""What reads the output may end first, as `head` does: the exit code stays the verdict."""

import os
import subprocess
import sys

import pytest

from tests.shell import NO_CAUSES

CERTIFY = ("certify", "--dtype", "float32", "--clause", "K2", *NO_CAUSES)


@pytest.fixture
def nobody():
    """Yield the writing end of a pipe whose reading end is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    yield writing
    os.close(writing)


def ended(words, **streams):
    """Return the exit code of the command line."""
    command = [sys.executable, "-m", "spec", *words]
    return subprocess.run(command, check=False, timeout=100, **streams).returncode


@pytest.mark.quick("no*")
@pytest.mark.parametrize(("name", "code"), [("right", 0), ("elementwise", 1), ("no_such", 2)])
def test_the_exit_code_is_the_verdict_though_nobody_reads(name, code, nobody):
    words = (*CERTIFY, f"tests.targets:{name}")
    assert ended(words, stdout=nobody, stderr=nobody) == code


def test_what_is_still_read_has_no_traceback(nobody):
    command = [sys.executable, "-m", "spec", "clauses"]
    done = subprocess.run(command, check=False, stdout=nobody, stderr=subprocess.PIPE, timeout=100)
    assert (done.returncode, done.stderr) == (0, b"")
