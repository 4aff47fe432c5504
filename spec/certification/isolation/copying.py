"""Processes that are copies of a process that has only loaded the target.

Importing a library takes longer than most of the work that follows, and each process that probes or
judges needs a fresh state. So one process imports, and is forked. A process with threads cannot be
forked (some libraries start threads when imported), nor can one that holds a device. Then each
process imports for itself.
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
    """Whether this process has a single thread, as a fork copies no other thread."""
    return sys.platform == "linux" and len(os.listdir("/proc/self/task")) == 1


def as_copies(orders: socket.socket) -> tuple[TextIO, TextIO]:
    """Return in each copy of this process that is ordered, with two new pipes.

    It never returns in this process, which copies itself on order, and reports on request how a
    copy ended. If its parent was killed, it ends the copies that have no work.
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
    """Redirect all output of this process, from any language, to a pipe."""
    os.dup2(pipe, 1)
    os.dup2(pipe, 2)


class Copy:
    """A copy as its grandparent sees it: the part of `subprocess.Popen` that is used here.

    Raises OSError if the process that is to be copied is gone.
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
        """The exit code, with the sign of `subprocess`."""
        if self.code is None:
            self.code = -signal.SIGKILL  # where nobody is left to tell
            with contextlib.suppress(OSError):
                self.orders.sendall(b"%d" % self.pid)
                self.code = self._answer(self.pid)
        return self.code

    def _answer(self, *about: int) -> int:
        """The answer about a process or a new copy; answers to interrupted waits are dropped."""
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
    """Wait a while for a process that has closed its pipe, which usually ends by itself."""
    if isinstance(process, subprocess.Popen):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
    elif process.code is None:
        with contextlib.suppress(OSError):
            handle = os.pidfd_open(process.pid)
            select.select([handle], [], [], GRACE)
            os.close(handle)


def ended(process: Process) -> None:
    """End a process, whatever it is doing, and close its pipes."""
    process.kill()
    process.wait()
    if process.stdin is not None:
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


class Stock:
    """Processes for a target: the first one loads it; the others are copies if possible."""

    def __init__(self, request: Request, place: Place | None = None) -> None:
        self.request, self.place = request, place
        self.copies = False  # until the first is known to take orders
        self.printed = Printed()
        one = taken(place)
        self.asked = None if one.shared is None else Asked(one.shared)
        self.first, self.orders = self._told(one.process), one.orders

    def another(self) -> Process:
        """One more process that has loaded the target, or will load it first."""
        if self.copies and self.orders is not None:
            try:
                return Copy(self.orders)
            except OSError:  # a target may end whom it pleases
                self.copies = False
        handles = [] if self.asked is None else [self.asked.fileno()]
        return self._told(started(*handles, place=self.place))

    def end(self) -> None:
        """End the first process, so that no more copies are made."""
        ended(self.first)
        for shared in (self.orders, self.asked):
            if shared is not None:
                shared.close()

    def _told(self, process: subprocess.Popen[str]) -> subprocess.Popen[str]:
        """The process, after it was sent the request."""
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # one that is gone is noticed by its silence
            process.stdin.write(json.dumps(self.request.to_json()) + "\n")
            process.stdin.flush()
        return process
