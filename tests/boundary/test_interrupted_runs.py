"""A run that a person stops ends the runners of its target, in whatever session they are."""

import os
import signal
import time
from pathlib import Path

import pytest

from tests.shell import FEW, begun

SLOW = "import time\n\ndef attend(query, key, value):\n    time.sleep(60)\n"
LEVELS = 4  # the command, the judge, the process that starts runners, and a runner


def family(process: int) -> list[list[int]]:
    """A process, its children, theirs, and so on."""
    found = [[process]]
    while found[-1]:
        tasks = (x for one in found[-1] for x in Path(f"/proc/{one}/task").glob("*/children"))
        found.append([int(word) for task in tasks for word in text_of(task).split()])
    return found[:-1]


def text_of(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it has ended
        return ""


def runs(process: int) -> bool:
    """Whether a process has not ended, though nobody may have asked for its exit code yet."""
    _, _, rest = text_of(Path(f"/proc/{process}/stat")).rpartition(")")
    return bool(rest) and rest.split()[0] not in "ZX"


@pytest.mark.slow
def test_who_interrupts_a_run_leaves_no_runner(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SLOW)
    process = begun("certify", "mine.py:attend", *FEW, cwd=tmp_path)
    while len(seen := family(process.pid)) < LEVELS:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    assert (*process.communicate(timeout=30), process.returncode) == ("", "interrupted\n", 3)
    last = time.monotonic() + 10
    every = [one for level in seen for one in level]
    while time.monotonic() < last and any(map(runs, every)):
        time.sleep(0.1)
    assert [*filter(runs, every)] == []
