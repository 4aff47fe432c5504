"""The runners of a target: one for each process that judges, all copies of one zygote.

A zygote has imported the array library and no target. It gets no environment, arguments, folder or
handle of the judge, but for those that `KEPT` and `BEGIN` name.
"""

from __future__ import annotations

import ast
import atexit
import fcntl
import json
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from spec.boundary.connection import USUAL, Connection, Ending
from spec.boundary.importing import body_of
from spec.boundary.messages import Interfered
from spec.runner import spaces
from spec.runner.confine import confined
from spec.runner.memory import SIZE, mapped

START = Path(__file__).resolve().parents[1] / "runner" / "start.py"
# Of the environment: where libraries are found, and how they use processors and devices.
KEPT = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "HOME", "TMPDIR", "VIRTUAL_ENV")
THREADS = ("OMP_", "MKL_", "OPENBLAS_", "KMP_", "GOMP_", "DNNL_", "ONEDNN_")
DEVICES = ("CUDA_", "CUBLAS_", "CUDNN_", "NVIDIA_", "HIP_", "ROCM_", "TRITON_", "XLA_", "JAX_")
BEGIN = (*THREADS, *DEVICES, "TORCH", "PYTORCH_", "ATEN_", "FLASH_ATTENTION_")
BARE = "ATTENTION_SPEC_BARE"  # for tests: as where there is no Landlock, and no namespaces
SEALED = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def kept(name: str) -> bool:
    """Whether runners have a variable of the environment."""
    return name in KEPT or name.startswith(BEGIN)


def withheld(target: str, folder: str) -> str:
    """A line about the variables that the file of a target names and its runner lacks, or ""."""
    every = (x for one in body_of(target, folder) for x in ast.walk(one))
    words = {x.value for x in every if isinstance(x, ast.Constant) and isinstance(x.value, str)}
    names = [x for x in sorted(words & os.environ.keys()) if not kept(x)]
    if not names:
        return ""
    many = "variables" if len(names) > 1 else "variable"
    said = f"its process does not have the environment {many} {', '.join(names)}"
    return f"{said}, which its file names: with --isolation fork it does"


def isolated() -> str:
    """The confinement of runners on this system, in words."""
    return confined(BARE in os.environ)


class Zygote:
    """The process that is copied for each runner. folder: where it works.

    isolation: what holds its runners, in words. ending: that of its runners. lightly: whether
    compilers of runners to come optimise little, if they have a way to.
    """

    def __init__(self, libraries: Sequence[str], folder: str, ending: Ending = USUAL) -> None:
        self.ending = ending
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        own = {name: x for name, x in os.environ.items() if kept(name)}
        self.owner = os.getpid()
        self.bare, self.lightly = BARE in os.environ, False
        self.isolation = isolated()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-u", "-"],  # as whose argument a target sees nothing
            stdin=subprocess.PIPE,
            env=own,
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
        self._copy(theirs, block, 2, lightly=self.lightly)
        found = Connection(ours, mapped(block), self.ending)
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
