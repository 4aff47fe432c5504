"""A process that has imported the array library and no target, and copies itself on request.

Each request is one message on the control socket, with three handles: the runner's socket, the
shared block, and where output goes. The copy serves (`serve`), confined; a bare one as where there
is no Landlock. One that is to be alone becomes another program (`alone`), whose handles are a
socket that tells of its end, its input and its output. A message without handles names libraries
to import, for copies to come.

This process ends a copy as soon as the judge's end of its socket is closed, and tells the judge how
it ended if it ends by itself; then it ends whatever the copy has started, in whatever session, and
removes its folder.
"""

import gc
import importlib
import importlib.machinery
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from . import landlock, spaces
from .alone import TEXT
from .compiled import ALL_KEPT, OF_JAX, lightly
from .confine import FILES, cache, confine
from .origin import INSTALLED
from .readable import common
from .serve import serve

LINE = 1 << 16
SWEEPING = 5.0  # seconds
SILENT = ("KINETO_LOG_LEVEL", "99")  # else torch says that calls are watched (`for_torch`)
LATER: Mapping[str, Sequence[str]] = {
    "numpy": ("numpy.random",),
    "torch": ("torch.fx.experimental.symbolic_shapes", "attention_runner.arrays.for_torch"),
    "jax": ("attention_runner.arrays.for_jax",),
}
REMOVE = 'chmod -R u+rwx "$1"; rm -rf "$1"'  # however deep a folder is, and however closed
GONE = select.POLLHUP | select.POLLERR


def main(control: int, libraries: Sequence[str]) -> None:
    """Serve requests until the control socket is closed; then end every copy."""
    orders = socket.socket(fileno=control)
    for number in (signal.SIGINT, signal.SIGTERM):  # whom a person stops is the judge
        signal.signal(number, lambda *_: None)  # what a target starts hears them, and can be ended
    programs = tempfile.mkdtemp(prefix="programs-")
    os.environ[OF_JAX] = cache(programs, OF_JAX)
    for name, value in (SILENT, *ALL_KEPT):
        os.environ.setdefault(name, value)
    landlock.adopt()
    imported(libraries)
    common()
    Zygote(orders, libraries, programs).run()


def imported(names: Sequence[str]) -> None:
    """Import modules that are installed."""
    gc.disable()  # to import makes no garbage
    for name in filter(_installed, names):
        with suppress(Exception):
            importlib.import_module(name)
    gc.freeze()  # else to collect garbage would copy all of the memory that is shared
    gc.enable()


def _later(names: Sequence[str]) -> list[str]:
    """What libraries import once they are used."""
    return [later for name in names for later in LATER.get(name, ())]


def _installed(name: str) -> bool:
    """Whether a module is of a package that is installed, or of the runner."""
    if name.startswith(f"{__package__}."):
        return True
    found = importlib.machinery.PathFinder.find_spec(name.partition(".")[0])
    return found is not None and bool(INSTALLED & {*Path(found.origin or "").parts})


class Copy(NamedTuple):
    """A runner: the judge's socket, the process and its handle, and its folder."""

    judge: socket.socket
    process: int
    handle: int
    own: str


class Zygote:
    """The copies that live, and the folders that are being removed.

    libraries: those that have been imported, until what they import later has been as well.
    programs: the folder of compiled programs, which copies share.
    """

    def __init__(self, orders: socket.socket, libraries: Sequence[str], programs: str) -> None:
        self.orders, self.libraries, self.poll = orders, libraries, select.poll()
        self.programs = programs
        self.poll.register(orders, select.POLLIN)
        self.copies: dict[int, Copy] = {}  # by each of their handles
        self.removals: list[subprocess.Popen[bytes]] = []

    def run(self) -> None:
        """Copy this process for each request, and end copies that nobody needs."""
        while True:
            for handle, event in self.poll.poll():
                if handle == self.orders.fileno():
                    said, handles, *_ = socket.recv_fds(self.orders, LINE, 3)
                    if not said:
                        self._end()
                    order = json.loads(said)
                    if handles:
                        self._copied(order, *handles)
                    # The first copy finds the target at the same time.
                    self._prepare([*self.libraries, *order.get("import", ())])
                elif handle in self.copies:
                    self._over(handle, event)

    def _prepare(self, names: Sequence[str]) -> None:
        """Import modules, and what libraries among them import later, for copies to come."""
        self.libraries = ()
        if names:
            imported([*names, *_later(names)])

    def _copied(self, order: Mapping[str, Any], talk: int, block: int, prints: int) -> None:
        own = tempfile.mkdtemp(prefix="" if "alone" in order else "attention-")
        process = os.fork()
        if not process:
            landlock.end_with_parent()
            self.orders.close()
            for copy in {*self.copies.values()}:
                copy.judge.close()
                os.close(copy.handle)
            if order["spaces"]:
                spaces.enter()
            os.setsid()
            if order.get("lightly"):
                lightly()
            # A program of its own must not run what a runner may have put there.
            programs = own if "alone" in order else self.programs
            confined = partial(confine, own, programs, order["bare"])
            if "alone" in order:
                sys.path += order["paths"]  # which it may read, though another program begins
                become(f"{own}/{order['name']}", partial(confined, *order["alone"]), block, prints)
            serve(socket.socket(fileno=talk), block, prints, confined)
            os._exit(0)
        os.close(block)
        os.close(prints)
        copy = Copy(socket.socket(fileno=talk), process, os.pidfd_open(process), own)
        self.poll.register(copy.judge, GONE)
        self.poll.register(copy.handle, select.POLLIN)
        self.copies[talk] = self.copies[copy.handle] = copy

    def _over(self, at: int, event: int) -> None:
        """End a copy whose judge is gone, or tell its judge how it ended."""
        copy = self.copies[at]
        signal.pidfd_send_signal(copy.handle, signal.SIGKILL)
        _, status = os.waitpid(copy.process, 0)
        for one in (copy.judge.fileno(), copy.handle):
            self.poll.unregister(one)
            del self.copies[one]
        self._swept()
        if at == copy.handle and event & select.POLLIN:
            with suppress(OSError):
                copy.judge.send(b'{"died": %d}' % os.waitstatus_to_exitcode(status))
        copy.judge.close()
        os.close(copy.handle)
        self._remove(copy.own)

    def _remove(self, folder: str) -> None:
        try:
            os.rmdir(folder)
        except OSError:
            command = ["sh", "-c", REMOVE, "sh", folder]
            self.removals.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))

    def _swept(self) -> None:
        """End what copies that are over have started, and what that has started.

        All of it is stopped before any of it is ended, as each could replace another. It has an
        end: processes that are made faster than they are stopped are left after some seconds.
        """
        self.removals = [one for one in self.removals if one.poll() is None]
        known = {copy.process for copy in self.copies.values()}
        known |= {one.pid for one in self.removals}
        last = time.monotonic() + SWEEPING
        while (left := children() - known) and time.monotonic() < last:
            for order in (signal.SIGSTOP, signal.SIGKILL):
                for process in left if order == signal.SIGKILL else family(left):
                    with suppress(ProcessLookupError):
                        os.kill(process, order)
            for process in left:
                with suppress(ChildProcessError):
                    os.waitpid(process, 0)

    def _end(self) -> NoReturn:
        for copy in {*self.copies.values()}:
            self._over(copy.handle, 0)
        self._remove(self.programs)
        for one in self.removals:
            one.wait()
        sys.exit()


def become(script: str, confine: Callable[[], None], asked: int, answers: int) -> NoReturn:
    """Become an interpreter that runs a script of nobody's (`alone`), confined."""
    Path(script).write_text(TEXT, encoding="utf-8")
    confine()
    nothing = os.open(os.devnull, os.O_WRONLY)
    for at, one in enumerate((asked, answers, nothing)):
        os.dup2(one, at)
    os.closerange(3, FILES)
    os.execv(sys.executable, [sys.executable, script])


def family(processes: set[int]) -> set[int]:
    """Processes, and what they have started, as far as it can be seen."""
    found, ahead = set[int](), [*processes]
    while ahead:
        process = ahead.pop()
        found.add(process)
        with suppress(OSError):  # it may end at any moment
            for each in Path(f"/proc/{process}/task").glob("*/children"):
                ahead += [x for x in map(int, each.read_text().split()) if x not in found]
    return found


def children() -> set[int]:
    """The processes whose parent is this one, also those that it has adopted."""
    tasks = Path("/proc/self/task").glob("*/children")
    return {int(word) for each in tasks for word in each.read_text().split()}
