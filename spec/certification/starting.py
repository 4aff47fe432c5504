"""The process that will load a target, started before this one has imported its own modules.

Both need time to import, and do it at the same time. So this module imports little.
"""

import atexit
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import IO

from spec.runner.compiled import ALL_KEPT, OF_JAX

NAME = __name__.partition(".")[0]  # `spec` here, and `attention_spec` where it is installed
INSTALLED = "attention-spec"  # the command that comes with the package
COMMAND = INSTALLED if INSTALLED.replace("-", "_") == NAME else f"python -m {NAME}"
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
BUILDERS = "TORCHINDUCTOR_COMPILE_THREADS"  # more than one are processes, which outlive a worker


@dataclass(frozen=True)
class Started:
    """A worker that waits for its request.

    shared: the file for descriptions of calls. orders: the socket for orders to fork. Both may be
    None.
    """

    process: subprocess.Popen[str]
    shared: IO[bytes] | None = None
    orders: socket.socket | None = None


@dataclass(frozen=True)
class Place:
    """The place of a target that was named on another machine: its folder, and import paths."""

    folder: str
    paths: tuple[str, ...]


_ahead: list[Started] = []
_programs: list[str] = []  # where they are kept, as long as this process lives


def ahead() -> None:
    """Start the first worker before it is needed."""
    _ahead.append(first())


def taken(place: Place | None = None) -> Started:
    """The worker that was started ahead, or a new one."""
    return _ahead.pop() if _ahead and place is None else first(place)


def messages() -> tuple[socket.socket, socket.socket]:
    """Two connected sockets that keep messages apart."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def first(place: Place | None = None) -> Started:
    """A worker that can be ordered to fork."""
    shared = tempfile.TemporaryFile() if os.name == "posix" else None  # noqa: SIM115
    ours, theirs = messages() if sys.platform == "linux" else (None, None)
    handles = (x.fileno() for x in (shared, theirs) if x is not None)
    process = started(*handles, place=place)
    if theirs is not None:
        theirs.close()
    return Started(process, shared, ours)


def dismiss() -> None:
    """End the worker that was started ahead, if it was not used."""
    for one in _ahead:
        one.process.kill()
        one.process.communicate()
        for shared in (one.shared, one.orders):
            if shared is not None:
                shared.close()
    _ahead.clear()


def started(*handles: int, place: Place | None = None) -> subprocess.Popen[str]:
    """A worker that gets the handles of what it shares with this process."""
    folder = place.folder if place is not None and os.path.isdir(place.folder) else None
    paths = dict.fromkeys([*sys.path, *(() if place is None else place.paths)])
    environment = {
        **dict.fromkeys(THREADS, "1"),  # problems are small, and threads would wait on threads
        BUILDERS: "1",
        **_sharing_programs(),
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
    }
    # By import, for what `-m` runs is in no package of ours; -P: see `attention_spec`; and
    # -u: what is printed is not lost with the process. To import makes no garbage.
    begin = f"from {NAME}.certification.isolation.worker import main"
    command = f"import gc; gc.disable(); {begin}; main()"
    return subprocess.Popen(
        [sys.executable, "-P", "-u", "-c", command, *map(str, handles)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        encoding="utf-8",
        pass_fds=handles,
        cwd=folder,
    )


def _sharing_programs() -> dict[str, str]:
    """The cache that workers of a run share for compiled programs, unless one is set."""
    if OF_JAX in os.environ:
        return {}
    if not _programs:
        _programs.append(tempfile.mkdtemp(prefix="programs-"))
        atexit.register(shutil.rmtree, _programs[0], ignore_errors=True)
    return {OF_JAX: _programs[0], **dict(ALL_KEPT)}
