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
from spec.certification.settings import Request
from spec.certification.starting import Place, started, taken

GRACE = 5.0  # seconds
SLOW = 60.0  # in which a process has copied itself, however large it is
LINE = 32  # bytes: two numbers


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
            copy, status = os.waitpid(int(order), 0)
            copies.remove(copy)
            orders.sendall(b"%d %d" % (copy, os.waitstatus_to_exitcode(status)))
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
                self.code = self._answer(self.pid)
        return self.code

    def _answer(self, *about: int) -> int:
        """What is told about a process, or of a new one; not what an interrupted wait had asked."""
        self.orders.settimeout(SLOW)
        try:
            while said := self.orders.recv(LINE):
                *told, number = map(int, said.split())
                if told == [*about]:
                    return number
        except (TimeoutError, ValueError):  # nor is anything to be ordered after that
            self.orders.close()
        raise ConnectionError("the process that is copied is gone")


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

    def __init__(self, request: Request, place: Place | None = None) -> None:
        self.request, self.place = request, place
        self.copies = False  # until the first is known to take orders
        self.printed = Printed()
        one = taken(place)
        self.asked = None if one.shared is None else Asked(one.shared)
        self.first, self.orders = self._told(one.process), one.orders

    def another(self) -> Process:
        """One more process, in which the target is loaded, or will be before all else."""
        if self.copies and self.orders is not None:
            try:
                return Copy(self.orders)
            except OSError:  # a target may end whom it pleases
                self.copies = False
        handles = [] if self.asked is None else [self.asked.fileno()]
        return self._told(started(*handles, place=self.place))

    def end(self) -> None:
        """Take no more of them."""
        ended(self.first)
        for shared in (self.orders, self.asked):
            if shared is not None:
                shared.close()

    def _told(self, process: subprocess.Popen[str]) -> subprocess.Popen[str]:
        """A process that knows what is requested."""
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # one that is gone is noticed by its silence
            process.stdin.write(json.dumps(self.request.to_json()) + "\n")
            process.stdin.flush()
        return process
