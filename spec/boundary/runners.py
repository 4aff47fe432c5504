"""The runners of a target: one for each process that judges, all copies of one zygote.

A zygote has imported the array library and no target. It gets no environment, arguments, folder or
handle of the judge, beside what `KEPT` names.
"""

import atexit
import fcntl
import json
import mmap
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spec.boundary.messages import Interfered, parsed
from spec.runner.confine import confined
from spec.runner.memory import ROOM, SIZE, mapped
from spec.runner.serve import LONGEST

START = Path(__file__).resolve().parents[1] / "runner" / "start.py"
# Of the environment: where libraries are found, and how they use processors and devices.
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PYTHONPATH", "HOME", "TMPDIR", "VIRTUAL_ENV")
BEGIN = ("OMP_", "MKL_", "OPENBLAS_", "CUDA_", "NVIDIA_", "TORCH", "TRITON_", "JAX_", "XLA_")
BARE = "ATTENTION_SPEC_BARE"  # for tests: runners as where there is no Landlock
SEALED = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
ALIGNED = 64  # bytes


class Zygote:
    """The process that is copied for each runner. folder: where it works.

    isolation: what holds its runners, in words.
    """

    def __init__(self, libraries: Sequence[str], folder: str) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        kept = {x: y for x, y in os.environ.items() if x in KEPT or x.startswith(BEGIN)}
        self.owner = os.getpid()
        self.bare = BARE in os.environ
        self.isolation = confined(self.bare)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-u", str(START), str(theirs.fileno()), *libraries],
            stdin=subprocess.DEVNULL,
            env=kept,
            pass_fds=(theirs.fileno(),),
            cwd=folder,
        )
        theirs.close()
        atexit.register(self.end)

    def runner(self) -> "Connection":
        """A new copy. Raises Interfered: the zygote is gone."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        block = os.memfd_create("arrays", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(block, SIZE)
        fcntl.fcntl(block, fcntl.F_ADD_SEALS, SEALED)  # a part that is cut off kills who reads it
        try:
            how = b"bare" if self.bare else b"copy"
            socket.send_fds(self.control, [how], [theirs.fileno(), block, 2])
        except OSError:
            raise Interfered("ended the process that starts runners") from None
        finally:
            theirs.close()
        found = Connection(ours, mapped(block))
        os.close(block)
        return found

    def end(self) -> None:
        """End it, with all runners."""
        self.control.close()
        if os.getpid() == self.owner:
            self.process.wait()


class Connection:
    """A runner as one process sees it: questions and answers, and places in the shared block."""

    def __init__(self, talk: socket.socket, block: mmap.mmap) -> None:
        self.talk, self.block = talk, block
        self.numbers = 0
        self.new: list[dict[str, Any]] = []
        self.free: list[int] = []
        self.at, self.live = 0, 0
        self.gaps: dict[int, list[int]] = {}

    def ask(self, do: str, **told: Any) -> Any:
        """The answer to a question. Raises what the target raised; Interfered."""
        number = secrets.token_hex(8)
        message = {"n": number, "do": do, **told}
        message |= {"new": self.new} if self.new else {}
        message |= {"free": self.free} if self.free else {}
        self.new, self.free = [], []
        try:
            self.talk.send(json.dumps(message).encode())
            said = self.talk.recv(LONGEST)
        except OSError:
            said = b""
        found = parsed(said, number) if said else {"died": -signal.SIGKILL}
        if "died" in found:
            _like(found["died"])
        return found

    def number(self) -> int:
        """A number for an object that the judge makes."""
        self.numbers += 1
        return self.numbers

    def place(self, size: int) -> int:
        """A free place for so many bytes. Raises MemoryError."""
        size += -size % ALIGNED
        gaps = self.gaps.get(size)
        self.live += 1
        if gaps:
            return gaps.pop()
        at, self.at = self.at, self.at + size
        if self.at > ROOM:
            raise MemoryError("the arrays of a problem are larger than the block that is shared")
        return at

    def leave(self, number: int, at: int, size: int) -> None:
        """Give a place back, and forget what lay there."""
        self.free.append(number)
        self.live -= 1
        if not self.live:
            self.at, self.gaps = 0, {}
        else:
            self.gaps.setdefault(size + (-size % ALIGNED), []).append(at)


def _like(code: int) -> None:
    """End this process as its runner ended."""
    if code < 0:
        signal.signal(-code, signal.SIG_DFL) if -code not in (signal.SIGKILL, signal.SIGSTOP) else None
        os.kill(os.getpid(), -code)
    os._exit(code)
