"""A copy of a prepared process is the command line as it is started from nothing."""

import subprocess

import pytest

from tests.night import deep
from tests.shell import FEW, run, started

SLOW = "import time\n\ntime.sleep(5)\n"


@pytest.mark.parametrize(
    "words",
    [("clauses", "A1"), ("certify", "nowhere:attend"), deep(("certify", "--no-such-option"))],
)
def test_it_ends_and_says_the_same(words):
    copy, process = run(*words), started(*words)
    assert copy.stdout or copy.stderr
    for word in ("returncode", "stdout", "stderr"):
        assert getattr(copy, word) == getattr(process, word)


def test_each_copy_has_a_folder_and_an_environment_of_its_own(tmp_path, monkeypatch):
    said = "import os\nopen('said', 'a').write(os.environ.get('SAID', 'nothing') + '\\n')\n"
    for value in ("one", None):
        folder = tmp_path / str(value)
        folder.mkdir()
        (folder / "mine.py").write_text(f"{said}attend = None\n")
        monkeypatch.setenv("SAID", value) if value else monkeypatch.delenv("SAID")
        words = ("mine.py:attend", "--isolation", "fork")  # so that it may write
        assert run("certify", *words, cwd=folder).returncode == 2
        assert {*(folder / "said").read_text().split()} == {value or "nothing"}


def test_a_copy_that_takes_too_long_is_ended_and_the_next_one_runs(tmp_path):
    (tmp_path / "mine.py").write_text(SLOW)
    with pytest.raises(subprocess.TimeoutExpired):
        run("certify", "mine.py:attend", *FEW, cwd=tmp_path, timeout=1)
    assert run("clauses", "A1").returncode == 0
