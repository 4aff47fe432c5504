"""What a target prints is shown once, at the end, and mixes with nothing."""

import json
import re

import pytest

from spec.certification.isolation.printed import CHARACTERS, LINES, Printed
from tests.shell import FEW, NO_CAUSES, certify, run

SPEAKS = """
import ctypes, os, sys, warnings
from tests.targets import right

print("once")

def attend(query, key, value):
    print("from Python")
    os.write(1, b"from the system\\n")
    ctypes.CDLL(None).printf(b"from C\\n")
    os.system("echo from a shell")
    sys.stderr.write("10 %\\r100 %\\n")
    warnings.warn("beware")
    if key.shape[2] > 6:
        sys.stdout.write("it is too long")
        os.abort()
    return right(query, key, value)
"""
SPOKEN = ("from Python", "from the system", "from C", "from a shell", "100 %")


@pytest.mark.slow
@pytest.mark.parametrize("isolation", ["fork", "process"])
def test_all_that_is_printed_is_shown_once_with_how_often_it_was(isolation, tmp_path):
    (tmp_path / "mine.py").write_text(SPEAKS)
    words = ("--clause", "A1", "--json", "c.json", "--isolation", isolation)
    done = run("certify", "mine.py:attend", *FEW, *NO_CAUSES, *words, cwd=tmp_path)
    head, once, *lines, last = done.stderr.splitlines()
    assert (head, last.strip()) == ("the target printed:", "it is too long")
    loaded = int((re.fullmatch(r"    once(?: \(×(\d)\))?", once) or [0, 0])[1] or 1)
    assert loaded == 1 or isolation == "process"  # each of its processes imports it
    said, times = zip(*(line.strip().rsplit(" ", 1) for line in lines), strict=True)
    assert said[:-1] == SPOKEN
    assert said[-1] in (f"{x}:13: UserWarning: beware" for x in ("mine.py", tmp_path / "mine.py"))
    counts = [int(x[2:-1]) for x in times]
    assert {*counts[:-1]} == {counts[0]}
    assert counts[-1] == counts[0] or isolation == "process"  # Python shows a warning once there
    assert "spoken" not in done.stdout
    notes = json.loads((tmp_path / "c.json").read_text())["notes"]
    assert f"prints: {1 + loaded + sum(counts)} lines" in notes
    assert "it printed last: it is too long" in " ".join(done.stdout.split())


def test_who_prints_nothing_is_not_said_to():
    done = certify("plain", "--clause", "V2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "prints" not in done.stdout


def test_what_is_printed_by_who_cannot_be_judged_is_shown_before_the_error(tmp_path):
    (tmp_path / "mine.py").write_text("print('no device')\nraise RuntimeError('none')\n")
    done = run("certify", "mine.py:attend", *FEW, cwd=tmp_path)
    assert done.returncode == 2
    error = "error: mine.py cannot be imported: RuntimeError: none"
    assert done.stderr.splitlines() == ["the target printed:", "    no device", error]


def test_no_more_is_shown_than_a_person_reads():
    printed = Printed()
    for i in [*range(100), 0]:
        printed.add(f"line {i}")
    *lines, last = str(printed).splitlines()
    assert len(lines) == 1 + LINES
    assert lines[1] == "    line 0 (×2)"
    assert last == "    and 80 other lines"
    assert printed.note == "prints: 101 lines"
    long = Printed()
    for i in range(50):
        long.add(f"{i:200}")
    assert len(str(long)) < 1.2 * CHARACTERS
