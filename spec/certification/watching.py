"""A process that a target may end at any time, as by `os._exit(0)`, and a watcher.

The process itself cannot notice this: no handler runs. So `pytest --implementation`, whose exit
code is a result, runs in a fork of the process, and the remaining process reports the exit code
(`apart`); its target may be in this process (`--isolation none`). A user who calls `certify` in
Python wants the function tested in the same process, with all its state. There, another process
watches and prints a line (`watched`), but the exit code is the one that the target chose. A target
that writes to these pipes deceives both, as it could change all else in its process: `certify` on
the command line is for targets that nobody trusts.
"""

import atexit
import os
import signal
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import NoReturn

from spec.certification.target.ward import end_with_parent, signal_of

ENDED = 3  # the exit code of a run that was cut off
NOTICES = """
import signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # who is interrupted says so
begun = []
for line in sys.stdin:
    begun.append(line[1:-1]) if line[0] == "+" else begun.pop()
if begun:
    print(f"error: the process ended while {begun[-1]} was judged: no certificate", file=sys.stderr)
"""
_watcher: list[tuple[int, subprocess.Popen[bytes]]] = []  # of which process, and who it is


def apart(run: Callable[[], int]) -> int:
    """The exit code of a function that runs in a fork; 3, with a line, if it does not return.

    If the process cannot be forked, the function runs in it.
    """
    if sys.platform != "linux":
        return run()
    reads, writes = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():  # of threads, of which none has done anything yet
        warnings.simplefilter("ignore")
        copy = os.fork()
    if not copy:
        _told(run, writes)
    os.close(writes)
    with _passing_on(copy):
        _, status = os.waitpid(copy, 0)
    os.set_blocking(reads, False)  # what it started may hold the other end open
    with os.fdopen(reads, "rb") as told:
        said = told.read()
    if said:
        return int(said)
    code = os.waitstatus_to_exitcode(status)
    how = f"died of {signal_of(code)}" if code < 0 else f"ended with exit code {code}"
    print(f"error: the process of the tests {how} before they were done", file=sys.stderr)
    return ENDED


def _told(run: Callable[[], int], writes: int) -> NoReturn:
    """Run it, report its exit code, and end."""
    end_with_parent()
    code = b"%d" % run()
    sys.stdout.flush()
    sys.stderr.flush()
    os.write(writes, code)
    os._exit(0)


@contextmanager
def _passing_on(copy: int) -> Iterator[None]:
    """Leave interrupts to the fork, which gets them too, and pass other signals on."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: os.kill(copy, signal.SIGTERM))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def watched(name: str) -> Iterator[None]:
    """Print a line on standard error if this process ends within the context."""
    _tell(f"+{ascii(name)[1:-1]}\n")
    try:
        yield
    finally:
        _tell("-\n")


def _tell(line: str) -> None:
    """Send a line to the watcher of this process, which is started by the first one."""
    if not _watcher or _watcher[0][0] != os.getpid():
        words = [sys.executable, "-I", "-S", "-c", NOTICES]
        process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        _watcher[:] = [(os.getpid(), process)]
        atexit.register(_dismiss, process, os.getpid())
    stdin = _watcher[0][1].stdin
    assert stdin is not None
    with suppress(BrokenPipeError):
        os.write(stdin.fileno(), line.encode())


def _dismiss(process: subprocess.Popen[bytes], owner: int) -> None:
    """End the watcher, at the end of the process that it watches."""
    if os.getpid() == owner:
        process.communicate()
