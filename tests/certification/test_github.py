"""`certify --github`: annotations that GitHub Actions shows, and the summary of a step."""

import re

import pytest

from spec.certification.diagnosing.diagnosis import Diagnosis
from spec.certification.judging.cause import Cause
from spec.certification.ledger.github import MOST, annotations, command, summary
from tests.certification.made import certificate, verdict
from tests.shell import FEW, NO_CAUSES, run

LINE = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")
WRONG = """\
from tests.targets import elementwise

attend = elementwise


def should(query, key, value, attn_mask=None, is_causal=False):
    from tests.targets import right
    return right(query, key, value, attn_mask, is_causal) + 0 * value.sum()
"""
PLAIN = """\
import numpy as np


def attend(query, key, value):
    return value.sum(2, keepdims=True) / max(value.shape[2], 1) + 0 * query
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository as an action has it, with a file for the summary of the step."""
    root = tmp_path / "repository"
    (root / "sub").mkdir(parents=True)
    (root / "sub" / "mine.py").write_text(WRONG)
    (root / "sub" / "plain.py").write_text(PLAIN)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(root))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    (tmp_path / "summary.md").write_text("before\n")
    return root


def told(text):
    """The annotations that are printed: word, properties and message."""
    found = [LINE.fullmatch(line) for line in text.splitlines() if line.startswith("::")]
    assert all(found)
    return [(x[1], dict(pair.split("=", 1) for pair in x[2].split(",")), x[3]) for x in found if x]


@pytest.mark.slow
def test_causes_are_errors_where_the_target_is_defined(repository):
    words = ("plain.py:attend", *FEW, "--clause", "A1", "--github")
    done = run("certify", *words, cwd=repository / "sub")
    assert done.returncode == 1
    (word, where, message), last = told(done.stdout)
    assert (word, where["file"], where["line"]) == ("error", "sub/plain.py", "4")
    assert where["title"] == "plain.py%3Aattend%3A fails A1 [float32]"
    first, *_, example = message.split("%0A")
    assert re.fullmatch(r"the output is wrong in \d+ of \d+ problems with M > 1", first)
    assert example.startswith("at (")
    assert last[0] == "notice"
    assert last[1]["title"] == "plain.py%3Aattend%3A not certified%2C for 1 cause"
    assert last[2] == "clauses: 1 of 1 applies: 1 fails"


def test_recommended_clauses_are_warnings_and_the_summary_has_a_row(repository):
    words = ("sub/mine.py:should", *FEW, "--clause", "A1,M8", "--github")
    done = run("certify", *words, cwd=repository)
    assert done.returncode == 0, done.stdout + done.stderr
    (word, where, _message), last = told(done.stdout)
    assert (word, where["file"], where["line"]) == ("warning", "sub/mine.py", "6")
    assert "recommended clause fails%3A M8 " in where["title"]
    assert last[1]["title"].endswith("%3A certified (quick)")
    before, head, rule, row, empty = (repository.parent / "summary.md").read_text().splitlines()
    assert (before, empty) == ("before", "")
    assert rule == "| --- | --- | --- | --- | --- | --- |"
    cells = dict(zip(head.strip("| ").split(" | "), row.strip("| ").split(" | "), strict=True))
    assert cells.pop("seconds")
    assert cells == {
        "target": "sub/mine.py:should",
        "verdict": "certified (quick)",
        "passes": "1",
        "fails": "0",
        "recommended only": "1",
    }


def test_a_failure_without_a_cause_says_what_the_target_looks_like():
    looks = "looks like the convention a=b: declare it with --convention a=b if it is meant"
    found = certificate(verdict("A1", "violated", message="at (0, 0): got 1"), advice=(looks,))
    error, _notice = told("\n".join(annotations("x", found)))
    assert error[2] == f"at (0, 0): got 1%0A{looks}"


@pytest.mark.slow
def test_what_ends_a_run_is_annotated_with_its_smallest_problem(repository):
    words = ("sub/mine.py:attend", *FEW, "--clause", "K2", "--fail-fast", "--github")
    done = run("certify", *words, cwd=repository)
    (word, _, message), _ = told(done.stdout)
    assert (word, message.partition(" within")[0]) == ("error", "at (0, 0, 0): got 0.25, want 0")
    assert "B=1 H=1 G=1 N=1 M=2 D=1 E=1" in done.stdout


def test_nothing_is_annotated_unless_it_is_asked_for(repository):
    done = run("certify", "sub/plain.py:attend", *FEW, "--clause", "A1", *NO_CAUSES, cwd=repository)
    assert done.returncode == 1
    assert told(done.stdout) == []
    assert (repository.parent / "summary.md").read_text() == "before\n"


def test_a_target_that_cannot_be_used_is_an_error(repository):
    done = run("certify", "nowhere.py:attend", "--github", cwd=repository)
    assert done.returncode == 2
    why = "there is no file 'nowhere.py'"
    assert told(done.stdout) == [("error", {"title": "nowhere.py%3Aattend%3A error"}, why)]
    assert done.stderr == f"error: {why}\n"
    assert f"error: {why}" in (repository.parent / "summary.md").read_text()


def test_a_summary_that_cannot_be_written_is_one_line(repository, monkeypatch):
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(repository))
    done = run("certify", "nowhere.py:attend", "--github", cwd=repository)
    assert done.returncode == 2
    assert done.stderr == f"error: {repository} cannot be written: Is a directory\n"


def test_a_target_cannot_write_commands_or_cells_of_its_own():
    hostile = "x\r\n::error::y%0A::z,file=a|b`<b>"
    line = command("error", hostile, title=hostile)
    assert line == (
        "::error title=x%0D%0A%3A%3Aerror%3A%3Ay%250A%3A%3Az%2Cfile=a|b`<b>"
        "::x%0D%0A::error::y%250A::z,file=a|b`<b>"
    )
    found = certificate(verdict("A1", "violated", message=hostile), name=hostile)
    for line in annotations(hostile, found):
        assert LINE.fullmatch(line)
    *_, row = summary({hostile: found}).splitlines()
    assert row.startswith("| x  ::error::y%0A::z,file=a\\|b\\`&lt;b> | not certified | ")


def test_no_more_is_annotated_than_is_shown():
    causes = tuple(Cause((f"N = {i}",), "", "is wrong", clauses=("A1",)) for i in range(MOST + 2))
    known = Diagnosis(causes=causes, met={("A1", "float32"): (0,)})
    found = certificate(verdict("A1", "violated"), diagnosis=known)
    *errors, notice = annotations("mine", found)
    assert len(errors) == MOST
    assert notice.endswith("; 2 more in the log")


def test_crashes_are_errors():
    gone = [verdict(number, "crashed", message="killed by SIGSEGV") for number in ("A1", "A2")]
    first, last = annotations("mine", certificate(*gone))
    assert first == "::error title=mine%3A crashed in A1-A2::killed by SIGSEGV"
    assert last.startswith("::notice title=mine%3A incomplete::")
