"""Ranks: processes of `torch.distributed` that each compute a part of a problem, over gloo.

    python -m implementations.ranks RANK RANKS FILE

runs one of them. It reads a function and arguments from a pipe, and writes its answer to another
one. Arrays go to the next rank, and come from the previous one, over gloo. `Ranks` starts the
processes. It ends all of them if one has died, or has not answered in time, because an answer needs
all ranks.
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

PATIENCE = 10.0  # seconds to wait for the answer of a rank
STARTING = 60.0  # seconds for all to find each other
DYING = 1.0  # seconds to wait for the end of another rank


class Peers:
    """The other ranks, as one rank sees them: it sends to the next, receives from the previous."""

    def __init__(self, rank: int, ranks: int, file: str) -> None:
        import torch.distributed

        self.rank, self.ranks, self.distributed = rank, ranks, torch.distributed
        how: dict[str, Any] = {"rank": rank, "world_size": ranks}
        patience = timedelta(seconds=STARTING)
        self.distributed.init_process_group("gloo", f"file://{file}", patience, **how)

    def passed(self, x: Any) -> Any:
        """Send x to the next rank, and return what the previous rank sends."""
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
    """A number of ranks, started when they are first needed.

    They belong to the process that started them; a forked copy of it starts its own.
    """

    def __init__(self, ranks: int) -> None:
        self.ranks, self.owner = ranks, os.getpid()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.inherited: list[Any] = []  # processes of the parent that this process was forked from
        self.folder: tempfile.TemporaryDirectory[str] | None = None

    def asked(self, function: str, given: Sequence[tuple[Any, ...]]) -> list[Any]:
        """Return the answer of each rank to `module:name`, called with the arguments for that rank.

        Raises RuntimeError if one has died, hangs, or raises an exception.
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
        """End all processes."""
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
        file = str(Path(self.folder.name, "store"))  # the file by which ranks find each other
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
        """Raise RuntimeError if a rank has died, so that no rank that waits for it gets the blame.

        seconds: how long to wait for its end, because its connections close before it ends
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
    with suppress(BrokenPipeError):  # a missing answer shows that the process has ended
        pickle.dump(x, pipe)
        pipe.flush()


def main(rank: int, ranks: int, file: str) -> None:
    """Answer calls until the pipe is closed."""
    asked, told = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # printed text must not go to the pipe
    peers = Peers(rank, ranks, file)
    while True:
        try:
            function, given = pickle.load(asked)
        except EOFError:  # the caller is gone and cannot clean up
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
