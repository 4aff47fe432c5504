"""A process that has imported the array library and no target, and copies itself on request.

Each request is one message on the control socket: the names of libraries to import first, or
nothing, with three handles: the runner's socket, the shared block, and where output goes. The copy
serves (`serve`); this process ends it, with its whole group, as soon as the judge's end of the
socket is closed, and tells the judge how it ended if it ends by itself.
"""

import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NoReturn

from .serve import serve

LINE = 1 << 10
LATER: Mapping[str, Sequence[str]] = {
    "numpy": ("numpy.random",),
    "torch": ("torch.fx.experimental.symbolic_shapes", "attention_runner.arrays.for_torch"),
    "jax": ("attention_runner.arrays.for_jax",),
}
GONE = select.POLLHUP | select.POLLERR


def main(control: int, libraries: Sequence[str]) -> None:
    """Serve requests until the control socket is closed; then end every copy."""
    orders = socket.socket(fileno=control)
    imported(libraries)
    Zygote(orders).run()


def imported(libraries: Sequence[str]) -> None:
    """Import libraries, and what they import themselves once they are used."""
    for name in libraries:
        for later in (name, *LATER.get(name, ())):
            with suppress(ImportError):
                importlib.import_module(later)
    if libraries:
        gc.freeze()  # else to collect garbage would copy all of the memory that is shared


class Zygote:
    """The copies that live, each with the judge's socket and the handle of its process."""

    def __init__(self, orders: socket.socket) -> None:
        self.orders, self.poll = orders, select.poll()
        self.poll.register(orders, select.POLLIN)
        self.copies: dict[int, tuple[socket.socket, int, int]] = {}  # by each of their handles

    def run(self) -> None:
        """Copy this process for each request, and end copies that nobody needs."""
        while True:
            for handle, event in self.poll.poll():
                if handle == self.orders.fileno():
                    said, handles, *_ = socket.recv_fds(self.orders, LINE, 3)
                    if not said:
                        self._end()
                    imported(json.loads(said))
                    if handles:
                        self._copied(*handles)
                elif handle in self.copies:
                    self._over(handle, event)

    def _copied(self, talk: int, block: int, prints: int) -> None:
        process = os.fork()
        if not process:
            self.orders.close()
            for judge, pid, handle in {*self.copies.values()}:
                judge.close()
                os.close(handle) if pid else None
            os.setsid()
            serve(socket.socket(fileno=talk), block, prints)
            os._exit(0)
        os.close(block)
        os.close(prints)
        judge, handle = socket.socket(fileno=talk), os.pidfd_open(process)
        self.poll.register(judge, GONE)
        self.poll.register(handle, select.POLLIN)
        self.copies[judge.fileno()] = self.copies[handle] = judge, process, handle

    def _over(self, at: int, event: int) -> None:
        """End a copy whose judge is gone, or tell its judge how it ended."""
        judge, process, handle = self.copies[at]
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        if at == handle and event & select.POLLIN:
            with suppress(OSError):
                judge.send(b'{"died": %d}' % os.waitstatus_to_exitcode(status))
        for one in (judge.fileno(), handle):
            self.poll.unregister(one)
            del self.copies[one]
        judge.close()
        os.close(handle)

    def _end(self) -> NoReturn:
        for _, process, _ in {*self.copies.values()}:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)
        sys.exit()
