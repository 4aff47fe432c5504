"""Processes that are copies of one that has loaded the target, and has done nothing else.

To import a library takes longer than most of what is judged then, and whoever probes or judges
needs a process in which nobody did before. So one process imports, and is copied as it stands.
What runs threads cannot be (a library may, as soon as it is imported), nor can what holds a
device: then every process imports for itself.
"""

import contextlib
import gc
import json
import os
import select
import signal
import socket
import subprocess
import sys
from typing import TextIO

from spec.certification.isolation.asked import Asked
from spec.certification.isolation.printed import Printed
from spec.certification.settings import NAME, Request

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
GRACE = 5.0  # seconds
LINE = 32  # bytes: a number


def can_be_copied() -> bool:
    """Whether this process has a single thread: none but the one that forks is copied."""
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1


def as_copies(orders: socket.socket) -> tuple[TextIO, TextIO]:
    """Return in each copy of this process that is ordered, with pipes of its own to and from.

    Never in this process: it copies itself, and tells how a copy ended when it is asked. Where
    nobody is left to ask, as who asked was killed, it ends the copies that work for nobody.
    """
    gc.freeze()  # else to collect garbage would copy all of the memory that is shared
    copies = set[int]()
    while True:
        order, pipes, *_ = socket.recv_fds(orders, LINE, 3)
        if not order:
            for copy in copies:
                os.kill(copy, signal.SIGKILL)
            sys.exit()
        if not pipes:
            _, status = os.waitpid(int(order), 0)
            copies.remove(int(order))
            orders.sendall(b"%d" % os.waitstatus_to_exitcode(status))
            continue
        process = os.fork()
        if not process:
            orders.close()
            reads, writes, prints = pipes
            printing_to(prints)
            return os.fdopen(reads, encoding="utf-8"), os.fdopen(writes, "w", encoding="utf-8")
        copies.add(process)
        for pipe in pipes:
            os.close(pipe)
        orders.sendall(b"%d" % process)


def printing_to(pipe: int) -> None:
    """Have all that this process prints, from whatever language, go to a pipe."""
    os.dup2(pipe, 1)
    os.dup2(pipe, 2)


class Copy:
    """A copy as its grandparent sees it: as much of a `subprocess.Popen` as is needed.

    Raises OSError where the process that is to be copied is gone.
    """

    def __init__(self, orders: socket.socket) -> None:
        (reads, ours), (theirs, writes), (said, prints) = os.pipe(), os.pipe(), os.pipe()
        self.stdin: TextIO = os.fdopen(ours, "w", encoding="utf-8")
        self.stdout: TextIO = os.fdopen(theirs, encoding="utf-8")
        self.stderr: TextIO = os.fdopen(said)
        self.orders = orders
        self.code: int | None = None
        try:
            socket.send_fds(orders, [b"copy"], [reads, writes, prints])
            self.pid = self._answer()
        finally:
            for theirs in (reads, writes, prints):
                os.close(theirs)

    def kill(self) -> None:
        """End it, unless it has ended."""
        if self.code is None:  # until it is waited for, its number is nobody else's
            os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> int:
        """The exit code, as `subprocess` counts."""
        if self.code is None:
            self.code = -signal.SIGKILL  # where nobody is left to tell
            with contextlib.suppress(OSError):
                self.orders.sendall(b"%d" % self.pid)
                self.code = self._answer()
        return self.code

    def _answer(self) -> int:
        said = self.orders.recv(LINE)
        if not said:
            raise ConnectionError("the process that is copied is gone")
        return int(said)


Process = subprocess.Popen[str] | Copy


def leaving(process: Process) -> None:
    """Give a process time to end by itself, which has closed its pipe, as those do that end."""
    if isinstance(process, subprocess.Popen):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    elif process.code is None:
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(process.pid)
            select.select([handle], [], [], GRACE)
            os.close(handle)


def ended(process: Process) -> None:
    """Stop a process, whatever it is doing, and let go of its pipe."""
    process.kill()
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


class Stock:
    """Processes for a target: the first loads it, and others are copies of it if they can be."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.copies = False  # until the first is known to take orders
        self.asked = Asked() if os.name == "posix" else None
        self.printed = Printed()
        self.orders: socket.socket | None = None
        theirs: socket.socket | None = None
        if sys.platform == "linux":
            self.orders, theirs = socket.socketpair()
        self.first = self._started(theirs)
        if theirs is not None:
            theirs.close()

    def another(self) -> Process:
        """One more process, in which the target is loaded, or will be before all else."""
        if self.copies and self.orders is not None:
            try:
                return Copy(self.orders)
            except OSError:  # a target may end whom it pleases
                self.copies = False
        return self._started()

    def end(self) -> None:
        """Take no more of them."""
        ended(self.first)
        for shared in (self.orders, self.asked):
            if shared is not None:
                shared.close()

    def _started(self, orders: socket.socket | None = None) -> subprocess.Popen[str]:
        environment = {
            **dict.fromkeys(THREADS, "1"),  # problems are small, and threads would wait on threads
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        handles = [x.fileno() for x in (self.asked, orders) if x is not None]
        # By import, for what `-m` runs is in no package of ours; -P: see `attention_spec`; and
        # -u: what is printed is not lost with the process.
        command = f"from {NAME}.certification.isolation.worker import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-P", "-u", "-c", command, *map(str, handles)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
            pass_fds=handles,
        )
        assert process.stdin is not None
        process.stdin.write(json.dumps(self.request.to_json()) + "\n")
        process.stdin.flush()
        return process
