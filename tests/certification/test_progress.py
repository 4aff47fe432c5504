"""How far a certification is, for who watches and for who reads what was written."""

import io

from spec import CLAUSES
from spec.certification.judging.verdict import unrun
from spec.certification.progress import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(stream: io.StringIO, every: float) -> str:
    """What is written of two verdicts, the second a violation as far as it is concerned."""
    with progress(stream, every) as report:
        for done, outcome in enumerate(("holds", "violated"), start=1):
            report(unrun(CLAUSES["K2"], "float32", outcome, ""), done, 2)  # type: ignore[arg-type]
    return stream.getvalue()


def test_without_a_terminal_a_line_is_written_now_and_then() -> None:
    assert told(io.StringIO(), every=0) == "   1/2 K2 float32\n   2/2 K2 float32, 1 violated\n"


def test_what_is_over_soon_writes_none() -> None:
    assert told(io.StringIO(), every=60) == ""


def test_the_line_of_a_terminal_changes_and_is_gone_at_the_end() -> None:
    *lines, last = told(Terminal(), every=60).split("\r\x1b[K")
    assert lines == [
        "loading and probing ...",
        "   1/2 K2 float32",
        "   2/2 K2 float32, 1 violated",
    ]
    assert last == ""
