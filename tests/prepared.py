"""A process that has imported the command line, and is copied for each run of it.

To start Python and to import the specification takes a second of a processor, and a copy takes
milliseconds. A copy is a process of its own, with its own folder, environment and streams. Its
workers are copies as well (`tests.prepared_worker`); other processes are started from nothing.

    python -W error -m tests.prepared HANDLE [LIBRARY [compiled]]

HANDLE is a socket. A message on it is what to run, as JSON, with the handles of two streams. The
answers are the number of the process and, when it has ended, its exit code. LIBRARY is imported
as well, and what compiles its functions.
"""

import importlib
import json
import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from spec.backends import prepared
from spec.boundary import choosing

JUDGED_BY = "ATTENTION_SPEC_TESTS_ARE_JUDGED_BY"  # a variable of the environment
LONGEST = 1 << 20  # bytes of a message
STREAMS = 2


class Prepared:
    """The process that is copied, and what its copies are asked.

    start: the beginning of its command. imports: the library, and "compiled".
    """

    def __init__(self, start: Sequence[str], environment: Mapping[str, str], *imports: str) -> None:
        self.ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        words = [*start, "-m", __name__, str(theirs.fileno()), *imports]
        with theirs:
            self.process = subprocess.Popen(words, pass_fds=[theirs.fileno()], env=environment)

    def run(
        self, words: Sequence[str], folder: str, environment: Mapping[str, str], timeout: float
    ) -> subprocess.CompletedProcess[str]:
        """Run the command line in a copy. Raises TimeoutExpired after its end."""
        asked = {"words": [*words], "folder": folder, "environment": {**environment}}
        ends = [os.pipe() for _ in range(STREAMS)]
        socket.send_fds(self.ours, [json.dumps(asked).encode()], [theirs for _, theirs in ends])
        for _, theirs in ends:
            os.close(theirs)
        number = int(self._answer())
        try:
            said = _read([ours for ours, _ in ends], time.monotonic() + timeout)
        except TimeoutError:
            os.kill(number, signal.SIGKILL)
            raise subprocess.TimeoutExpired([*words], timeout) from None
        finally:
            code = int(self._answer())
        return subprocess.CompletedProcess([*words], code, *said)

    def close(self) -> None:
        """End the process, which has no copies by then."""
        self.ours.close()
        self.process.wait()

    def _answer(self) -> bytes:
        answer = self.ours.recv(LONGEST)
        assert answer, "the process that is copied has ended"
        return answer


def _read(handles: Sequence[int], deadline: float) -> list[str]:
    """What is written to pipes until they are closed. Raises TimeoutError."""
    texts = {handle: bytearray() for handle in handles}
    with selectors.DefaultSelector() as waiting:
        for handle in handles:
            waiting.register(handle, selectors.EVENT_READ)
        while waiting.get_map():
            ready = waiting.select(deadline - time.monotonic())
            if not ready and time.monotonic() > deadline:
                raise TimeoutError
            for key, _ in ready:
                read = os.read(key.fd, LONGEST)
                texts[key.fd] += read
                if not read:
                    waiting.unregister(key.fd)
                    os.close(key.fd)
    return [text.decode() for text in texts.values()]


def asked_of(orders: socket.socket) -> Mapping[str, Any] | None:
    """What a copy is asked, in that copy; None in the process that is copied, at the end."""
    while True:
        message, handles, _, _ = socket.recv_fds(orders, LONGEST, STREAMS)
        if not message:
            return None
        number = os.fork()
        if not number:
            for place, handle in enumerate(handles, start=1):
                os.dup2(handle, place)
                os.close(handle)
            orders.close()
            return json.loads(message)
        for handle in handles:
            os.close(handle)
        orders.send(b"%d" % number)
        _, status = os.waitpid(number, 0)
        orders.send(b"%d" % os.waitstatus_to_exitcode(status))


def judge_by(default: str) -> None:
    """How targets are judged where nobody says it: here, and in the copies of runs from here.

    By `choosing.FORK`, targets are judged by copies of a process that has their library. A process
    of their own, which is the default for users, imports it again, and that takes seconds.
    """
    os.environ[JUDGED_BY] = choosing.DEFAULT = default
    choosing.chosen.cache_clear()


def main() -> None:
    """Wait for orders; in a copy, be `python -m spec` in its folder."""
    importlib.import_module("spec.certification.command_line")
    worker = importlib.import_module("tests.prepared_worker")
    if sys.argv[2:]:
        with warnings.catch_warnings(action="ignore"):  # of the library's own
            prepared(sys.argv[2], "compiled" in sys.argv)
    with socket.socket(fileno=int(sys.argv[1])) as orders:
        asked = asked_of(orders)
    if asked is not None:
        os.environ.clear()
        os.environ.update(asked["environment"])
        if JUDGED_BY in os.environ:
            judge_by(os.environ[JUDGED_BY])
        os.chdir(asked["folder"])
        sys.path[0] = asked["folder"]
        sys.argv[1:] = asked["words"]
        worker.copied_workers()
        runpy.run_module("spec", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
