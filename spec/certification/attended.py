"""A run as a person attends it: how far it is, an end at any time, and what the target printed.

Who interrupts it gets the certificate of what was judged so far. Who kills it finds that in the
file that he asked for, as it was a few seconds before.
"""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TextIO

from spec.backends import Unsuitable
from spec.certification.doors import so_far, supervising
from spec.certification.isolation.supervisor import Supervisor
from spec.certification.ledger.certificate import Certificate
from spec.certification.progress import EVERY, progress
from spec.certification.settings import Request

STOPS = (signal.SIGINT, signal.SIGTERM)


def certified(request: Request, stream: TextIO, file: str | None = None) -> Certificate:
    """The certificate of a target, attended. Raises Unsuitable; KeyboardInterrupt, if too early."""
    supervisor = supervising(request)
    with attended(supervisor, stream, file):
        supervisor.run()
    return so_far(supervisor)


@contextmanager
def attended(supervisor: Supervisor, stream: TextIO, file: str | None) -> Iterator[None]:
    """Let a person see what a supervisor does, and stop it. file: where a certificate is kept."""
    if file is not None:
        supervisor.now_and_then = keeping(supervisor, file)
    wanted = True
    try:
        with progress(stream) as shown, stopping(supervisor.stop):
            bench = supervisor.bench
            bench.report, bench.announce, bench.hint = shown.report, shown.announce, shown.hint
            bench.step = shown.step
            yield
    except KeyboardInterrupt:
        wanted = False  # who has seen enough is shown no more
        raise
    finally:
        if wanted:
            stream.write(str(supervisor.printed))


def keeping(supervisor: Supervisor, file: str, every: float = EVERY) -> Callable[[], None]:
    """What to call often: it writes a certificate now, and then as often as is said.

    Raises Unsuitable where it cannot, which had better be known at once.
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
    """Have signals call `stop`, unless they are ignored; the second one ends everything."""

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
