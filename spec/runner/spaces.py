"""The namespaces of a runner: its processes, network, mounts and System V objects are its own.

Three processes stand in a row. The one that the zygote copied waits for the first of the new
namespace of processes, which waits for the runner and adopts what that leaves behind. When any of
them ends, Linux ends all that the runner has started, at once. Root needs no user namespace; others
have one, in which they have their own numbers.

    unshare(2), pid_namespaces(7), user_namespaces(7), network_namespaces(7)
"""

import os
import platform
import resource
import signal
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import NoReturn

from . import landlock
from .landlock import MACHINES, Numbers

MOUNTS, OBJECTS, USER, PROCESSES, NETWORK = 0x20000, 0x8000000, 1 << 28, 1 << 29, 1 << 30
ALL = MOUNTS | OBJECTS | PROCESSES | NETWORK
CLONE, UNSHARE, MOUNT = (56, 220), (272, 97), (165, 40)
KEPT, BELOW = 1 << 18, 1 << 14  # of mounts: changes stay here, also of what is mounted below
CAREFUL = 2 | 4 | 8  # no programs with other rights, no devices, no programs
FILES = 1 << 20  # more handles than a process has


def wanted() -> int:
    """The kinds of namespaces."""
    return ALL if os.geteuid() == 0 else ALL | USER


@cache
def possible() -> bool:
    """Whether this system lets a process of this user make them, which a copy of this one tries."""
    if platform.machine() not in MACHINES:
        return False
    try:
        copy = _asked(CLONE, wanted() | signal.SIGCHLD, 0, 0, 0, 0)
    except OSError:
        return False
    if not copy:
        os._exit(0)
    os.waitpid(copy, 0)
    return True


def enter() -> None:
    """Become a runner in namespaces. Raises OSError: it cannot be made.

    This process stays outside, waits, and ends as the runner ends.
    """
    kinds, numbers = wanted(), (("uid", os.geteuid()), ("gid", os.getegid()))
    _asked(UNSHARE, kinds)
    if kinds & USER:
        Path("/proc/self/setgroups").write_text("deny")
        for name, number in numbers:
            Path(f"/proc/self/{name}_map").write_text(f"{number} {number} 1")
    heard, tell = os.pipe()
    first = os.fork()
    if first:
        _close_all_but([heard])
        _end_as(first, heard)
    landlock.end_with_parent()
    os.close(heard)
    os.setsid()  # else its group has no number in here, and who signals that signals himself
    _mount()
    runner = os.fork()
    if runner:
        landlock.no_new_privileges()
        _close_all_but([tell])
        _adopt(runner, tell)
    os.close(tell)
    landlock.end_with_parent()
    if kinds & USER:  # a new namespace has come with all powers in it
        landlock.drop()


def _mount() -> None:
    """Show the processes of this namespace in /proc, if the system permits it."""
    _asked(MOUNT, b"none", b"/", None, KEPT | BELOW, None)
    with suppress(OSError):
        _asked(MOUNT, b"proc", b"/proc", b"proc", CAREFUL, None)


def _adopt(runner: int, tell: int) -> NoReturn:
    """Wait for all that ends in this namespace, until the runner does; tell how that was."""
    while True:
        process, status = os.wait()
        if process == runner:
            os.write(tell, b"%d" % status)
            os._exit(0)


def _end_as(first: int, heard: int) -> NoReturn:
    """End as the runner ended, once all of its namespace has."""
    said = os.read(heard, 16)
    os.waitpid(first, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    end_with(os.waitstatus_to_exitcode(int(said or signal.SIGKILL)))


def end_with(code: int) -> NoReturn:
    """End this process as one did that ended with a code; a negative one is that of a signal."""
    if code < 0:
        if -code not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _close_all_but(handles: Sequence[int]) -> None:
    """Close what belongs to the runner: nobody else may hold its sockets open."""
    for low, high in zip([2, *handles], [*handles, FILES], strict=True):
        os.closerange(low + 1, high)


def _asked(numbers: Numbers, *words: int | bytes | None) -> int:
    """The result of a system call, by its numbers on known machines. Raises OSError."""
    return landlock.asked(numbers[MACHINES[platform.machine()][1]], *words)
