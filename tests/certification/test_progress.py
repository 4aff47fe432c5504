"""How far a certification is, for who watches and for who reads what was written."""

import io
import re
from functools import partial

import pytest

from spec import CLAUSES
from spec.certification import attended
from spec.certification.judging.verdict import unrun
from spec.certification.progress import progress
from spec.certification.settings import Request
from spec.certification.target.cost import Cost

TARGET = "tests.targets:bottom_right"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal without colours, as wide as most."""
    for name, value in {"TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "100"}.items():
        monkeypatch.setenv(name, value)
    return Terminal()


def pictures(text: str) -> list[str]:
    """The words beside the bar, one after another."""
    shown = [re.sub(r"\x1b\[[^A-Za-z]*[A-Za-z]|━|╸|╺", "", x) for x in text.split("\x1b[2K")]
    return [x.strip() for x in shown][:-1]


def told(stream: io.StringIO, every: float) -> str:
    """What is written of two verdicts, the second a violation as far as it is concerned."""
    with progress(stream, every) as shown:
        for done, outcome in enumerate(("holds", "violated"), start=1):
            shown.report(unrun(CLAUSES["K2"], "float32", outcome, ""), done, 2)  # type: ignore[arg-type]
    return stream.getvalue()


def test_without_a_terminal_a_line_is_written_now_and_then() -> None:
    assert told(io.StringIO(), every=0) == "   1/2 K2 float32\n   2/2 K2 float32, 1 failed\n"


def test_what_is_over_soon_writes_none() -> None:
    assert told(io.StringIO(), every=60) == ""


def test_a_terminal_has_a_bar_that_is_gone_at_the_end(terminal: Terminal) -> None:
    first, *_, last = pictures(told(terminal, every=60))
    assert first == "loading and probing ..."
    assert last == "2/2 K2 float32, 1 failed; looking for causes ..."
    assert terminal.getvalue().endswith("\x1b[1A\x1b[2K")  # up a line, which is cleared


def test_a_line_that_is_announced_stays(terminal: Terminal) -> None:
    with progress(stream := io.StringIO(), every=60) as shown:
        shown.announce("compiles about 80 programs")
    assert stream.getvalue() == "compiles about 80 programs\n"
    with progress(terminal, every=60) as shown:
        shown.announce("compiles about 80 programs")
    assert "\r\x1b[2Kcompiles about 80 programs\n" in terminal.getvalue()


def test_a_line_that_helps_to_wait_is_written_where_waiting_took_long() -> None:
    for every, written in ((60, ""), (0, "first cause: none\n")):
        with progress(stream := io.StringIO(), every) as shown:
            shown.hint("first cause: none")
        assert stream.getvalue() == written


def test_a_line_that_came_early_is_written_once_the_run_has_taken_a_while() -> None:
    with progress(stream := io.StringIO(), every=60) as shown:
        shown.hint("first cause: none")
        shown.every = 0
        shown.report(unrun(CLAUSES["K2"], "float32", "holds", ""), 1, 2)  # type: ignore[arg-type]
    assert stream.getvalue() == "first cause: none\n   1/2 K2 float32\n"


def test_the_first_cause_is_written_before_the_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attended, "progress", partial(progress, every=0))
    request = Request(TARGET, profile="quick", dtypes=("float64",), clauses=("C1",))
    found = attended.certified(request, stream := io.StringIO())
    *_, before, last = stream.getvalue().splitlines()
    assert not found.passed
    assert before.startswith("   2/2")
    cause = found.causes[0]
    assert cause.lens.startswith("correct under the convention causal=bottom-right")
    assert last == f"first cause: {cause.told}; {cause.lens}"


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (Cost(1, 80, 80, 0.25), "testing compiles about 80 programs and takes about 20 s; with a"),
        (Cost(2, 120, 80, 0.0), "120 programs for 2 dtypes (for one, as with --dtype float32: 80)"),
        (
            Cost(4, 200, 80, 1.0),
            "200 programs for 4 dtypes and takes about 3 min; with a search for causes, which "
            "compiles more, up to three times as long (for one, as with --dtype float32: 80, 80 s)",
        ),
    ],
)
def test_what_compiling_costs_is_told_in_programs_and_time(cost: Cost, words: str) -> None:
    assert words in str(cost)


def test_a_step_before_the_first_verdict_is_written_where_nothing_was_for_long(
    terminal: Terminal,
) -> None:
    for every, written in ((60, ""), (0, "choosing the shapes to test ...\n")):
        with progress(stream := io.StringIO(), every) as shown:
            shown.step("choosing the shapes to test")
        assert stream.getvalue() == written
    with progress(terminal, every=60) as shown:
        shown.step("probing")
    assert pictures(terminal.getvalue()) == [
        "loading and probing ...",
        "probing ...",
        "probing ...",
    ]
