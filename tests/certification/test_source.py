"""Where a target is defined: `file:line` in a report, in JSON and in a test of pytest."""

import functools
import json
import os
import sys

import pytest

from spec import certify
from spec.certification.target.source import defined, source_of
from tests.shell import FEW, run
from tests.targets import right

MINE = """\
import functools
from tests.targets import right

def wrapped(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner


@wrapped
def attend(query, key, value):
    return right(query, key, value)


class Layers:
    @staticmethod
    def attend(query, key, value):
        return right(query, key, value)
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "inner").mkdir()
    (tmp_path / "inner" / "mine.py").write_text(MINE)
    return tmp_path


@pytest.mark.parametrize(("name", "line"), [("attend", 11), ("Layers.attend", 17)])
def test_the_report_says_where_a_target_is_defined(name, line, folder):
    words = (f"inner/mine.py:{name}", *FEW, "--clause", "A1", "--json", "c.json")
    done = run("certify", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"\n\ntarget        inner/mine.py:{line}\nclauses " in done.stdout
    assert json.loads((folder / "c.json").read_text())["source"] == f"inner/mine.py:{line}"


@pytest.mark.slow
def test_a_file_elsewhere_has_its_whole_path(folder):
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    done = run("certify", f"{folder}/inner/mine.py:attend", *FEW, "--clause", "A1", cwd=elsewhere)
    assert f"\ntarget        {folder}/inner/mine.py:11\n" in done.stdout


def test_what_has_no_source_has_no_line():
    target = lambda query, key, value: right(query, key, value)  # noqa: E731
    found = certify(target, profile="quick", clauses=("A1",))
    assert found.source == ""
    assert "\ntarget  " not in str(found)


def test_an_object_of_which_nothing_is_known_is_defined_nowhere(monkeypatch):
    class Hostile:
        def __getattr__(self, name):
            raise RuntimeError(name)

    monkeypatch.setattr(sys.modules[__name__], "hostile", Hostile(), raising=False)
    monkeypatch.setattr(sys.modules[__name__], "part", functools.partial(print), raising=False)
    for name in ("hostile", "part", "nothing"):
        assert defined(f"{__name__}:{name}") is None
    assert source_of("builtins:len") == ""


def test_what_is_installed_is_named_from_where_packages_are():
    assert source_of("pytest:fixture").startswith("_pytest/fixtures.py:")
    assert not os.path.isabs(source_of("pytest:fixture"))
