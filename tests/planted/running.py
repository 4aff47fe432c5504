"""The tests in a copy of the repository: whether one fails, and which is the first."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.planted.copies import environment

SUMMARY = "short test summary info"
# A parameter in brackets may have spaces and dashes; what follows the id is a message.
FAILURE = re.compile(r"^(?:FAILED|ERROR) ([^\s\[]+(?:\[.*?\])?)(?: - .*)?$", re.MULTILINE)
GRACE = 30.0  # seconds in which an interrupted pytest writes its summary
TAIL = 15  # lines of output that are kept of a run that ended badly without a failing test


@dataclass(frozen=True)
class Run:
    """How a command ended. code: its exit code; None where it was stopped for lack of time.

    failed: the first test that failed, if any; tail: the end of what it printed.
    """

    code: int | None
    failed: str
    tail: str


def run(command: Sequence[str], folder: Path, seconds: float) -> Run:
    """Run a test command in a copy, for so many seconds at most."""
    with (folder / "output.txt").open("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = _ended(process, seconds)
        finally:
            _kill(process)
        output.seek(0)
        text = output.read()
    return Run(code, first_failure(text), "\n".join(text.splitlines()[-TAIL:]))


def first_failure(text: str) -> str:
    """The id of the first test in the summary of pytest; "" where none failed."""
    summary = text.rpartition(SUMMARY)[2] if SUMMARY in text else ""
    found = FAILURE.search(summary)
    return found[1] if found else ""


def _ended(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    """The exit code; None where the process was interrupted as its time was over."""
    deadline = time.monotonic() + seconds
    try:
        return process.wait(max(0.0, deadline - time.monotonic()))
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
    with suppress(subprocess.TimeoutExpired):
        process.wait(GRACE)
    return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End all processes of the group, which the command leads."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    finally:
        process.wait()
