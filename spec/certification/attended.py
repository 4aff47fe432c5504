"""A run that a person watches: its progress, its end at any time, and the target's output.

An interrupted run returns the certificate of the results so far. A killed run leaves it in the file
of `--json`, as it was a few seconds before.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from spec.backends import Unsuitable
from spec.boundary.choosing import NONE
from spec.certification.doors import here, so_far, supervising
from spec.certification.isolation.supervisor import Supervisor
from spec.certification.judging.edition import COMMITMENT
from spec.certification.ledger.causes import first
from spec.certification.ledger.certificate import Certificate
from spec.certification.progress import EVERY, progress
from spec.certification.settings import Request

STOPS = (signal.SIGINT, signal.SIGTERM)


def certified(request: Request, stream: TextIO, file: str | None = None) -> Certificate:
    """The certificate of a target. Raises Unsuitable; KeyboardInterrupt if it is too early."""
    if request.isolation == NONE:
        return here(request.target, request)
    supervisor = supervising(request)
    with attended(supervisor, stream, file):
        supervisor.run()
    return so_far(supervisor)


@contextmanager
def attended(supervisor: Supervisor, stream: TextIO, file: str | None) -> Iterator[None]:
    """Show the progress of a supervisor, and let signals stop it. file: for the certificate."""
    if (commitment := supervisor.hashes.get(COMMITMENT)) is not None:
        stream.write(f"{COMMITMENT} to a secret seed: sha256 {commitment}\n")
        stream.flush()
    if file is not None:
        supervisor.now_and_then = keeping(supervisor, file)
    wanted = True
    try:
        with progress(stream) as shown, stopping(supervisor.stop):
            bench = supervisor.bench
            bench.report, bench.announce, bench.step = shown.report, shown.announce, shown.step
            bench.hint = lambda cause: shown.hint(first(cause))
            yield
    except KeyboardInterrupt:
        wanted = False  # who has seen enough is shown no more
        raise
    finally:
        if wanted:
            stream.write(str(supervisor.printed))


def keeping(supervisor: Supervisor, file: str, every: float = EVERY) -> Callable[[], None]:
    """Return a function to call often, which writes a certificate now, then every few seconds.

    Raises Unsuitable now if the file cannot be written.
    """
    last: float | None = None

    def keep() -> None:
        nonlocal last
        if last is not None and time.monotonic() - last < every:
            return
        try:
            so_far(supervisor).save(file)
        except OSError as error:
            raise Unsuitable(f"{file} cannot be written: {error.strerror}") from None
        last = time.monotonic()

    return keep


@contextmanager
def stopping(stop: Callable[[], None]) -> Iterator[None]:
    """Let signals call `stop`, unless they are ignored; the second one ends the process."""

    def once(*_: object) -> None:
        for number in before:
            signal.signal(number, signal.default_int_handler)
        stop()

    before = {n: signal.getsignal(n) for n in STOPS if signal.getsignal(n) != signal.SIG_IGN}
    for number in before:
        signal.signal(number, once)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
