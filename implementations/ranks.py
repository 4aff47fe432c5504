"""Ranks: processes of `torch.distributed` that work on parts of one problem, over gloo.

    python -m implementations.ranks RANK RANKS FILE

is one of them. It is told by pipe what to call and with what, and answers by pipe; to the next rank
and from the one before arrays go by gloo. `Ranks` starts them, and ends all of them when one has
died or has said nothing for too long: an answer that one of them has no part in is none.
"""

from __future__ import annotations

import os
import pickle
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

PATIENCE = 10.0  # seconds without an answer of a rank
STARTING = 60.0  # seconds for all to find each other
DYING = 1.0  # seconds in which somebody else is seen to have died


class Peers:
    """The others, as one of them sees them: whatever it passes on, it has one of instead."""

    def __init__(self, rank: int, ranks: int, file: str) -> None:
        import torch.distributed

        self.rank, self.ranks, self.distributed = rank, ranks, torch.distributed
        how: dict[str, Any] = {"rank": rank, "world_size": ranks}
        patience = timedelta(seconds=STARTING)
        self.distributed.init_process_group("gloo", f"file://{file}", patience, **how)

    def passed(self, x: Any) -> Any:
        """What the rank before hands over, while x goes to the next one."""
        if self.ranks == 1:
            return x
        after, before = (self.rank + 1) % self.ranks, (self.rank - 1) % self.ranks
        written = np.frombuffer(pickle.dumps(x), np.uint8)
        (length,) = self._exchanged(np.array([len(written)]), 1, after, before)
        return pickle.loads(self._exchanged(written, int(length), after, before).tobytes())

    def _exchanged(self, x: Any, length: int, after: int, before: int) -> Any:
        import torch

        sent = self.distributed.isend(torch.from_numpy(x.copy()), after)
        found = torch.empty(length, dtype=torch.from_numpy(x[:0].copy()).dtype)
        self.distributed.recv(found, before)
        assert sent is not None
        sent.wait()
        return found.numpy()


class Ranks:
    """So many ranks, that are started when they are needed first.

    They work for the process that started them; a copy of it has others.
    """

    def __init__(self, ranks: int) -> None:
        self.ranks, self.owner = ranks, os.getpid()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.inherited: list[Any] = []  # what belongs to the process that this one is a copy of
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def asked(self, function: str, given: Sequence[tuple[Any, ...]]) -> list[Any]:
        """What each rank answers to `module:name` with what is given to it.

        Raises RuntimeError: one has died, hangs, or says why it has no answer.
        """
        if self.owner != os.getpid():
            self.inherited += [self.processes, self.folder]
            self.owner, self.processes, self.folder = os.getpid(), [], None
        fresh = not self.processes
        if fresh:
            self._start()
        try:
            for process, own in zip(self.processes, given, strict=True):
                _put(process.stdin, (function, own))
            until = time.monotonic() + (STARTING if fresh else PATIENCE)
            answers = [self._answer(rank, until) for rank in range(self.ranks)]
        except RuntimeError:
            self.end()
            raise
        return answers

    def end(self) -> None:
        """Have none of them any more."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                with suppress(OSError):
                    assert pipe is not None
                    pipe.close()
        self.processes = []
        if self.folder is not None:
            self.folder.cleanup()

    def _start(self) -> None:
        self.folder = tempfile.TemporaryDirectory(prefix="ranks-", ignore_cleanup_errors=True)
        file = str(Path(self.folder.name, "store"))  # where they find each other
        network = {"GLOO_SOCKET_IFNAME": "lo"} if sys.platform == "linux" else {}
        beside = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
        seen = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": beside, **network}
        for rank in range(self.ranks):
            words = [sys.executable, "-m", __name__, str(rank), str(self.ranks), file]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self.processes.append(subprocess.Popen(words, env=seen, **pipes))

    def _answer(self, rank: int, until: float) -> Any:
        out = self.processes[rank].stdout
        assert out is not None
        while not select.select([out], [], [], 0.2)[0]:
            self._check()
            if time.monotonic() > until:
                raise RuntimeError(f"rank {rank} of {self.ranks} does not answer")
        try:
            answered, found = pickle.load(out)
        except (EOFError, pickle.UnpicklingError):
            raise RuntimeError(f"rank {rank} of {self.ranks} has died") from None
        if not answered:
            self._check(DYING)
            raise RuntimeError(f"rank {rank} of {self.ranks}: {found}")
        return found

    def _check(self, seconds: float = 0.0) -> None:
        """Raises RuntimeError: one has died; who waits for it, or has lost it, is not to blame.

        seconds: that it may still take, as its connections end before it does.
        """
        until = time.monotonic() + seconds
        while True:
            for rank, process in enumerate(self.processes):
                if process.poll() is not None:
                    raise RuntimeError(f"rank {rank} of {self.ranks} has died")
            if time.monotonic() >= until:
                return
            time.sleep(0.01)


def _put(pipe: Any, x: Any) -> None:
    with suppress(BrokenPipeError):  # one that is gone is noticed by its silence
        pickle.dump(x, pipe)
        pipe.flush()


def main(rank: int, ranks: int, file: str) -> None:
    """Answer until nobody asks any more."""
    asked, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what is printed is no answer
    peers = Peers(rank, ranks, file)
    while True:
        try:
            function, given = pickle.load(asked)
        except EOFError:  # who asked is gone, and does not tidy up
            shutil.rmtree(Path(file).parent, ignore_errors=True)
            return
        _put(told, _answered(function, peers, given))


def _answered(function: str, peers: Peers, given: tuple[Any, ...]) -> tuple[bool, Any]:
    module, _, name = function.partition(":")
    try:
        return True, getattr(import_module(module), name)(peers, *given)
    except Exception as error:
        return False, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
