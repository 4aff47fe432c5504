"""The process that is to load a target, started before this one has imported what it needs itself.

To import takes both as long, and they do it at the same time. So this module imports little.
"""

import os
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from typing import IO

NAME = __name__.partition(".")[0]  # `spec`, or `attention_spec` where another is called so
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Started:
    """A worker that waits for its request.

    shared: the file in which it writes down what it is asked, and orders: to copy itself, where
    there are such.
    """

    process: subprocess.Popen[str]
    shared: IO[bytes] | None = None
    orders: socket.socket | None = None


_ahead: list[Started] = []


def ahead() -> None:
    """Start the first worker, whoever will want it."""
    _ahead.append(first())


def taken() -> Started:
    """The worker that was started ahead, or another one."""
    return _ahead.pop() if _ahead else first()


def first() -> Started:
    """A worker that can be told to copy itself."""
    shared = tempfile.TemporaryFile() if os.name == "posix" else None  # noqa: SIM115
    ours, theirs = socket.socketpair() if sys.platform == "linux" else (None, None)
    process = started(*(x.fileno() for x in (shared, theirs) if x is not None))
    if theirs is not None:
        theirs.close()
    return Started(process, shared, ours)


def dismiss() -> None:
    """End who was started ahead, and is wanted by nobody."""
    for one in _ahead:
        one.process.kill()
        one.process.communicate()
        for shared in (one.shared, one.orders):
            if shared is not None:
                shared.close()
    _ahead.clear()


def started(*handles: int) -> subprocess.Popen[str]:
    """A worker that is told which handles are for what it shares with this process."""
    environment = {
        **dict.fromkeys(THREADS, "1"),  # problems are small, and threads would wait on threads
        **os.environ,
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
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
    )
