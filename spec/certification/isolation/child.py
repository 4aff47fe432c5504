"""A worker process as its parent sees it: a target lives in it, and may bring it down."""

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from spec.certification.isolation.guard import Crash, Probe
from spec.certification.settings import Request

Item = tuple[str, str]
Messages = queue.Queue[tuple["Child", Mapping[str, Any] | None]]


THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


class Child:
    """A worker process, and what it was given to do.

    probed: what probing found, of a child that is to judge. gradients: whether clauses that ask
    for gradients are put to it, or those that ask for none.
    item: the clause and dtype that it runs. probe: what it puts to the target before that.
    since: when it was last heard of, or told something.
    """

    def __init__(
        self,
        request: Request,
        crashes: Sequence[Crash],
        messages: Messages,
        probed: Mapping[str, Any] | None = None,
        gradients: bool = False,
    ) -> None:
        environment = {
            **dict.fromkeys(THREADS, "1"),  # problems are small, and threads would wait on threads
            **os.environ,
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        }
        self.process = subprocess.Popen(
            [sys.executable, "-m", "spec.certification.isolation.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            text=True,
            encoding="utf-8",
        )
        self.item: Item | None = None
        self.probe: Probe | None = None
        self.since = time.monotonic()
        self.judges, self.gradients = probed is not None, gradients
        self.hung = False
        threading.Thread(target=self._listen, args=(messages,), daemon=True).start()
        known = [crash.to_json() for crash in crashes]
        first = {"request": request.to_json(), "crashes": known}
        self.tell({**first, "probed": probed, "gradients": gradients})

    @property
    def idle(self) -> bool:
        """Whether nothing is expected of it."""
        return self.judges and self.item is None

    def tell(self, message: Any) -> None:
        """Write one line to the child; one that is gone is noticed by its silence."""
        assert self.process.stdin is not None
        self.since = time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(message) + "\n")
            self.process.stdin.flush()

    def probing(self, probe: Probe) -> None:
        """Note what it is about to do; each probe has the whole patience."""
        self.probe, self.since = probe, time.monotonic()

    def end(self) -> None:
        """Stop the process, whatever it is doing, and let go of its pipes."""
        self.process.kill()
        self.process.wait()
        if self.process.stdin is not None:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()

    def fate(self) -> str:
        """How the process ended, in words."""
        if self.hung:
            return f"no answer after {time.monotonic() - self.since:.0f} s"
        code = self.process.wait()
        if code < 0:
            return f"the process died of {signal.Signals(-code).name}"
        return f"the process ended with exit code {code}"

    def _listen(self, messages: Messages) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as told:
            for line in told:
                messages.put((self, json.loads(line)))
        messages.put((self, None))
