"""`pytest --implementation` without a run of pytest: which tests there are, and how they end."""

import inspect
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import pytest_attention_spec as plugin
from spec import CLAUSES
from spec.certification import collected as of_plugin
from spec.certification.as_tests import Run
from spec.certification.ending import failed_in_all, note
from spec.certification.judging.verdict import Outcome
from spec.certification.settings import Request
from spec.certification.target.source import defined
from tests.certification.made import verdict

TARGET = "implementations.dense:attend"
ITEMS = [f"{TARGET}::{name}" for name in ("A1-x-float32", "K2-y-float32", "K2-y-float64")]


def ended(outcome: Outcome, force: str = "must", known: str | None = None) -> str:
    """How the test of a clause ends, which says so."""
    found: Any = SimpleNamespace(force=force, known=known)
    found.verdict = lambda: verdict("V9", outcome, message="at (0, 0): got 1\nmore")
    item: Any = SimpleNamespace(run=partial(Run.__call__, found))
    try:
        of_plugin.Clause.runtest(item)
    except AssertionError as error:
        return f"failed: {error}"
    except pytest.xfail.Exception as expected:
        return f"xfailed: {expected}"
    except pytest.skip.Exception as reason:
        return f"skipped: {reason}"
    return "passed"


@pytest.mark.parametrize("outcome", ["violated", "crashed"])
def test_only_a_must_that_is_not_known_to_be_broken_fails_its_test(outcome: Outcome) -> None:
    name = CLAUSES["V9"].name
    assert ended(outcome) == f"failed: V9 {name}, float32: at (0, 0): got 1\\nmore"
    assert ended(outcome, "should").startswith("xfailed: recommended only: ")
    assert ended(outcome, known="so published") == "xfailed: so published"
    assert ended(outcome, "should", "so published") == "xfailed: so published"


def test_a_clause_that_is_tested_on_nothing_is_skipped() -> None:
    """It was counted as passed, which the certificate does not do."""
    told = "skipped: raises an exception: at (0, 0): got 1\\nmore"
    assert ended("refused") == ended("refused", "should") == ended("refused", known="so") == told
    assert ended("holds") == ended("holds", "should") == ended("holds", known="so") == "passed"


class Hook:
    """What other plugins do: leave out what has a word in its name."""

    def __init__(self, word: str) -> None:
        self.word, self.told = word, list[str]()

    def pytest_collection_modifyitems(self, session: Any, config: Any, items: list[Any]) -> None:
        assert config.hook is self
        assert items is session.items
        items[:] = [item for item in items if not self.word or self.word not in item.nodeid]
        self.told.append("modified")

    def pytest_collection_finish(self, session: Any) -> None:
        self.told.append(f"{len(session.items)} collected")


def collected(
    monkeypatch: pytest.MonkeyPatch, *named: str, without: str = ""
) -> tuple[list[str], list[str]]:
    """The tests of a target where some are named and some deselected; what plugins are told."""
    items = [SimpleNamespace(nodeid=name) for name in ITEMS]
    hook, stash = Hook(without), {plugin.REQUEST: (TARGET, Request(TARGET))}
    config = SimpleNamespace(getoption=lambda _: TARGET, stash=stash, args=[*named], hook=hook)
    config.args_source = pytest.Config.ArgsSource.TESTPATHS
    session: Any = SimpleNamespace(config=config, genitems=lambda _: iter(items))
    monkeypatch.setattr(of_plugin.Clauses, "from_parent", lambda *_, **__: None)
    assert plugin.pytest_collection(session) is True
    assert session.testscollected == len(session.items)
    return [item.nodeid for item in session.items], hook.told


def test_all_clauses_are_collected_or_those_that_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert collected(monkeypatch)[0] == ITEMS
    assert collected(monkeypatch, "tests", "-q")[0] == ITEMS
    assert collected(monkeypatch, ITEMS[1])[0] == [ITEMS[1]]
    assert collected(monkeypatch, ITEMS[2], ITEMS[0])[0] == [ITEMS[0], ITEMS[2]]
    assert collected(monkeypatch, f"{TARGET}::nothing")[0] == []


def test_clauses_can_be_deselected_as_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    found = collected(monkeypatch, without="K2")
    assert found == ([ITEMS[0]], ["modified", "1 collected"])
    assert collected(monkeypatch, ITEMS[0], ITEMS[1], without="A1")[0] == [ITEMS[1]]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("nowhere:attend", "there is no module 'nowhere'"),
        ("implementations.dense:nothing", "nothing"),
        (f"{TARGET}", "unknown clause 'Q99'"),
    ],
)
def test_what_is_no_target_is_an_error_of_collection(target: str, reason: str) -> None:
    class Refused(Exception):
        pass

    clauses: Any = SimpleNamespace(request=Request(target, clauses=("Q99",)), CollectError=Refused)
    with pytest.raises(Refused, match=reason):
        next(of_plugin.Clauses.collect(clauses))


def broken() -> Iterator[None]:
    """Stands for a target; its line is known to who reads this file."""
    yield


def test_a_failure_is_told_at_the_first_line_of_its_target() -> None:
    place = defined(f"{__name__}:broken")
    assert place is not None
    with pytest.raises(AssertionError) as caught:
        raise AssertionError("A1 name, float32: at (0, 0): got 1\nmore")
    item: Any = SimpleNamespace(place=place, name="A1")
    crash = of_plugin.Clause.repr_failure(item, caught).reprcrash
    lines = Path(__file__).read_text().splitlines()
    assert Path(crash.path) == Path(inspect.getfile(broken))
    assert lines[crash.lineno - 1].startswith("def broken(")
    assert crash.message == "at (0, 0): got 1"
    path, line, name = of_plugin.Clause.reportinfo(item)
    assert (Path(path), name) == (Path(crash.path), "A1")
    assert lines[line].startswith("def broken(")


def test_the_last_worker_explains_what_failed_in_all_of_them(tmp_path: Path) -> None:
    folder = str(tmp_path)
    assert failed_in_all(folder, "gw0", 3, ["a"]) == set()
    note(folder, "gw2")  # it crashed
    assert failed_in_all(folder, "gw1", 3, ["b", "c"]) == {"a", "b", "c"}
    for elsewhere in ("", f"{folder}/on/another/machine"):
        assert failed_in_all(elsewhere, "gw0", 3, ["a"]) == {"a"}
