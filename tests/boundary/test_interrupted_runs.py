"""A run that a person stops ends the runners of its target, in whatever session they are."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.shell import FEW

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


def test_who_interrupts_a_run_leaves_no_runner(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(SLOW)
    process = subprocess.Popen(
        [sys.executable, "-m", "spec", "certify", "mine.py:attend", *FEW],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(x for x in sys.path if x)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(seen := family(process.pid)) < LEVELS:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    assert (*process.communicate(timeout=30), process.returncode) == ("", "interrupted\n", 3)
    last = time.monotonic() + 10
    every = [one for level in seen for one in level]
    while time.monotonic() < last and any(map(runs, every)):
        time.sleep(0.1)
    assert [*filter(runs, every)] == []
