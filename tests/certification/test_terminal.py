"""Colours: on a terminal, unless somebody wants none. The text is the same everywhere."""

import io
import os
import re
import subprocess
import sys

import pytest

from spec.certification.terminal import show
from tests.certification.test_progress import Terminal
from tests.shell import environment

pty = pytest.importorskip("pty")  # where there are such terminals
CODE = re.compile(r"\x1b\[[0-9;]*m")
GREEN, RED = "\x1b[1;32m", "\x1b[1;31m"
REPORT = """\
attend: not certified, for 1 cause
clauses       65 of 246 apply: 57 pass, 7 fail, 1 raised an exception
A agreement     6/8, 2 failed

1. correct with --convention causal=bottom-right

correct on all other problems: all 64 clauses pass there"""


@pytest.fixture(autouse=True)
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variables as on most terminals."""
    for name in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setenv("COLUMNS", "40")  # no line is broken for that


def shown(stream: io.StringIO) -> str:
    show(REPORT, stream)
    return stream.getvalue()


def test_a_report_on_a_terminal_has_colours_and_the_same_text() -> None:
    text = shown(Terminal())
    assert CODE.sub("", text) == f"{REPORT}\n"
    assert text.startswith(f"{RED}attend: not certified, for 1 cause\x1b[0m\n")
    assert f"{RED}2 failed\x1b[0m" in text
    assert "\x1b[1;36m--convention causal=bottom-right\x1b[0m" in text


def test_a_file_has_none_unless_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(io.StringIO()) == f"{REPORT}\n"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert RED in shown(io.StringIO())


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_who_wants_no_colours_gets_none(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    text = shown(Terminal())
    assert CODE.sub("", text) == f"{REPORT}\n"
    assert not re.search(r"\x1b\[[0-9;]*3\d", text)


@pytest.mark.slow
def test_the_command_knows_a_terminal() -> None:
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "spec", "certify", "nowhere.py:attend"]
    around = environment(sys.path)
    with subprocess.Popen(words, stdout=theirs, stderr=theirs, env=around) as process:
        assert process.wait(60) == 2
    text = os.read(ours, 4096).decode()
    os.close(ours)
    os.close(theirs)
    assert text.endswith(f"{RED}error\x1b[0m: there is no file 'nowhere.py'\r\n")
