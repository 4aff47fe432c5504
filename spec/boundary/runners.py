"""The runners of a target: one for each process that judges, all copies of one zygote.

A zygote has imported the array library and no target. It gets no environment, arguments, folder or
handle of the judge, but for those that `KEPT` and `BEGIN` name.
"""

from __future__ import annotations

import atexit
import fcntl
import json
import mmap
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from spec.boundary.counts import Counts
from spec.boundary.messages import Interfered, parsed
from spec.runner import spaces
from spec.runner.confine import confined
from spec.runner.memory import ROOM, SIZE, aligned, mapped
from spec.runner.serve import LONGEST

START = Path(__file__).resolve().parents[1] / "runner" / "start.py"
# Of the environment: where libraries are found, and how they use processors and devices.
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "VIRTUAL_ENV")
BEGIN = ("OMP_", "MKL_", "OPENBLAS_", "CUDA_", "NVIDIA_", "TORCH", "TRITON_", "JAX_", "XLA_")
BARE = "ATTENTION_SPEC_BARE"  # for tests: as where there is no Landlock, and no namespaces
SEALED = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
ALL = 64  # of so many looks at the places that were left lately, one is at all places
CALLS = 4000  # of a runner, on average, before another one takes its place
Ends = Callable[[int], NoReturn]
Form = tuple[str, int, tuple[int, ...], tuple[int, ...] | None, int]  # dtype, count, shape, strides


def isolated() -> str:
    """The confinement of runners on this system, in words."""
    return confined(BARE in os.environ)


class Zygote:
    """The process that is copied for each runner. folder: where it works.

    isolation: what holds its runners, in words. ends: gets the exit code of a runner that ended.
    """

    def __init__(self, libraries: Sequence[str], folder: str, ends: Ends = spaces.end_with) -> None:
        self.ends = ends
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = {x: y for x, y in os.environ.items() if x in KEPT or x.startswith(BEGIN)}
        self.owner = os.getpid()
        self.bare = BARE in os.environ
        self.isolation = isolated()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-u", "-"],  # as whose argument a target sees nothing
            stdin=subprocess.PIPE,
            env=kept,
            pass_fds=(theirs.fileno(),),
            cwd=folder,
        )
        assert self.process.stdin is not None
        begin = f"started({str(START.parent)!r}, {theirs.fileno()}, {[*libraries]!r})"
        self.process.stdin.write(f"{START.read_text(encoding='utf-8')}\n{begin}\n".encode())
        self.process.stdin.close()
        theirs.close()
        atexit.register(self.end)

    def prepare(self, names: Sequence[str]) -> None:
        """Have it import modules that are installed, so that its copies have them."""
        with suppress(OSError):
            self.control.send(json.dumps({"import": names}).encode())

    def runner(self) -> Connection:
        """A new copy. Raises Interfered: the zygote is gone."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        block = os.memfd_create("arrays", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(block, SIZE)
        fcntl.fcntl(block, fcntl.F_ADD_SEALS, SEALED)  # a part that is cut off kills who reads it
        self._copy(theirs, block, 2)
        found = Connection(ours, mapped(block), self.ends)
        os.close(block)
        return found

    def alone(
        self, name: str, target: tuple[str, str], paths: Sequence[str]
    ) -> tuple[socket.socket, int, int]:
        """A program of its own for a target, and its folder: what ends it, its input, its output.

        name: of its script. paths: other folders of modules.
        """
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        (asked, ask), (answers, answer) = os.pipe(), os.pipe()
        self._copy(theirs, asked, answer, name=name, alone=target, paths=[*paths])
        os.close(asked)
        os.close(answer)
        return ours, ask, answers

    def _copy(self, theirs: socket.socket, *handles: int, **how: Any) -> None:
        """Have it copied with these handles. Raises Interfered: the zygote is gone."""
        inside = not self.bare and spaces.possible()
        order = json.dumps({"bare": self.bare, "spaces": inside, **how}).encode()
        try:
            socket.send_fds(self.control, [order], [theirs.fileno(), *handles])
        except OSError:
            raise Interfered("ended the process that starts runners") from None
        finally:
            theirs.close()

    def end(self) -> None:
        """End it, with all runners."""
        self.control.close()
        if os.getpid() == self.owner:
            self.process.wait()


class Spot(NamedTuple):
    """A place in the block, for an array of some form. id: the number of the array."""

    form: Form
    size: int
    id: int
    at: int


class Connection:
    """A runner as one process sees it: questions and answers, and places in the shared block.

    spare: places of arrays that nobody here refers to any more. They are refilled, so that a target
    is given the same object again, as by a caller who fills a buffer in place; what it remembers by
    the identity of an array is then wrong. Each comes with the bytes that it was left with; late:
    whether others were found there; unseen: those that nobody has looked at since, by their number.
    sweeps: how often somebody looked. refills: whether an array of the library can be. calls, most:
    how many there were, and how many there will be, as nobody knows beforehand. pinned: objects of
    the runner that no other one has. counted: the last counts of what was compiled. ends: as of
    `Zygote`.
    """

    def __init__(self, talk: socket.socket, block: mmap.mmap, ends: Ends) -> None:
        self.talk, self.block, self.ends = talk, block, ends
        self.numbers = 0
        self.new: list[dict[str, Any]] = []
        self.free: list[int] = []
        self.at, self.live, self.refills = 0, 0, False
        self.calls, self.most, self.pinned = 0, secrets.randbelow(2 * CALLS) + 1, 0
        self.counted = Counts()
        self.gaps: dict[int, list[int]] = {}
        self.spare: dict[Form, list[tuple[Spot, bytes]]] = {}
        self.unseen: dict[int, tuple[Spot, bytes]] = {}
        self.late, self.sweeps = False, 0

    def __del__(self) -> None:
        self.talk.close()

    def ask(self, do: str, **told: Any) -> Any:
        """The answer to a question. Raises what the target raised; Interfered."""
        number = secrets.token_hex(8)
        message = {"n": number, "do": do, **told}
        message |= {"new": self.new} if self.new else {}
        message |= {"free": self.free} if self.free else {}
        self.new, self.free = [], []
        with suppress(BrokenPipeError, ConnectionResetError):  # it ended; that was told before
            self.talk.send(json.dumps(message).encode())
        try:
            said = self.talk.recv(LONGEST)
        except ConnectionResetError:  # it ended before it read the question
            said = self.talk.recv(LONGEST)
        if not said:
            raise Interfered("closed its connection to the judge")
        found = parsed(said, number)
        if "died" in found:
            self.ends(found["died"])
        if "counts" in found:
            self.counted = Counts.read(found["counts"])
        return found

    def spot(self, form: Form, size: int, running: str) -> Spot:
        """A place for an array: one that had this form, if there is any. Raises MemoryError.

        running: the format for which calls are made now; JAX has other arrays for float64.
        """
        self.live += 1
        spare = self.spare.get(form)
        if spare:
            return self._untouched(*spare.pop())
        self.numbers += 1
        size = aligned(size)
        found = Spot(form, size, self.numbers, self._place(size))
        dtype, count, shape, strides, offset = form
        told = {"shape": shape, "strides": strides, "offset": offset, "count": count}
        self.new.append({**told, "dtype": dtype, "id": found.id, "at": found.at, "for": running})
        return found

    def leave(self, spot: Spot) -> None:
        """Give a place back. The next array of its form is the same object, with other numbers."""
        self.live -= 1
        if self.refills and spot.form[0] != "int64":
            left = spot, self.block[spot.at : spot.at + spot.size]
            self.spare.setdefault(spot.form, []).append(left)
            self.unseen[spot.id] = left
        else:
            self._free(spot)

    def empty(self) -> None:
        """Forget the places that are refilled."""
        for each in [x for spare in self.spare.values() for x in spare]:
            self._free(self._untouched(*each))
        self.spare.clear()

    def swept(self) -> bool:
        """Whether a place was written after it was left: of those left lately, now and then any."""
        self.sweeps += 1
        seen = [*self.unseen.values()]
        if self.sweeps % ALL == 0:
            seen = [x for spare in self.spare.values() for x in spare]
        for each in seen:
            self._untouched(*each)
        return self.late

    def _untouched(self, spot: Spot, left: bytes) -> Spot:
        """A place, after a look whether it is as it was left."""
        self.unseen.pop(spot.id, None)
        self.late |= self.block[spot.at : spot.at + spot.size] != left
        return spot

    def _place(self, size: int) -> int:
        if self.at + size > ROOM and not self.gaps.get(size):
            self.empty()
        if self.gaps.get(size):
            return self.gaps[size].pop()
        if not self.live - 1 and self.at + size > ROOM:
            self.at, self.gaps = 0, {}
        at, self.at = self.at, self.at + size
        if self.at > ROOM:
            raise MemoryError("the arrays of a problem are larger than the block that is shared")
        return at

    def _free(self, spot: Spot) -> None:
        self.free.append(spot.id)
        self.gaps.setdefault(spot.size, []).append(spot.at)
