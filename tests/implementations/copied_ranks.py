"""Ranks that are copies of a process that has imported torch, which takes each of them seconds.

That process is the server of `multiprocessing`, which is started from nothing, and has used no
thread: torch cannot differentiate in a copy of one that has.
"""

import multiprocessing
import os
import subprocess
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection
from types import SimpleNamespace
from typing import Any

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["torch.distributed", "implementations.ring_rank"])


class Copied:
    """What `subprocess.Popen` is, to `implementations.ranks`."""

    def __init__(self, words: Sequence[str], *, env: Mapping[str, str], **_: Any) -> None:
        (asked, told), (heard, answer) = SERVER.Pipe(duplex=False), SERVER.Pipe(duplex=False)
        given = asked, answer, dict(env), list(words[-3:])
        self.process = SERVER.Process(target=_be_rank, args=given, daemon=True)
        self.process.start()
        for end in (asked, answer):
            end.close()
        self.stdin, self.stdout = (
            os.fdopen(os.dup(end.fileno()), how) for end, how in ((told, "wb"), (heard, "rb"))
        )
        self.pid, self.kill, self.wait = (self.process.pid, self.process.kill, self.process.join)

    def poll(self) -> int | None:
        """Its exit code, once it has ended."""
        return self.process.exitcode

    def send_signal(self, number: int) -> None:
        """Send it one."""
        assert self.pid is not None
        os.kill(self.pid, number)


COPYING = SimpleNamespace(Popen=Copied, PIPE=subprocess.PIPE)  # in the place of `subprocess`


def _be_rank(
    asked: Connection, answer: Connection, environment: Mapping[str, str], words: Sequence[str]
) -> None:
    os.environ.update(environment)
    os.dup2(asked.fileno(), 0)
    os.dup2(answer.fileno(), 1)
    asked.close()
    answer.close()
    import sys

    import torch

    from implementations.ranks import main

    torch.set_num_threads(1)
    sys.stdin = open(0)  # noqa: SIM115
    main(int(words[0]), int(words[1]), words[2])
