"""Dask, if it is installed: the workers of a scheduler, found by its address."""

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor
from typing import Any

from spec.backends import Unsuitable
from spec.backends.library import first_line

SECONDS = 10  # for a scheduler to answer, at first or again


@contextlib.contextmanager
def connected(address: str | None) -> Iterator[Executor | None]:
    """The workers of a scheduler as an executor; None if there is no address.

    Raises Unsuitable if Dask is not installed, or no scheduler answers.
    """
    if address is None:
        yield None
        return
    try:
        import distributed
    except ImportError:
        needed = f"--scheduler {address}: `distributed` is needed, which is not installed"
        raise Unsuitable(f"{needed} (pip install distributed)") from None
    try:
        connect: Any = distributed.Client  # where it is installed, mypy finds no types in it
        client = connect(address, timeout=SECONDS, set_as_default=False)
    except (OSError, ValueError, TypeError, ImportError) as error:
        reason = f"{type(error).__name__}: {first_line(error)}"
        raise Unsuitable(f"--scheduler {address}: no scheduler answers there ({reason})") from None
    try:
        yield client.get_executor(pure=False)
    finally:
        with contextlib.suppress(OSError, TimeoutError):
            client.close(timeout=SECONDS)


def closed(executor: Executor) -> bool:
    """Whether a Dask client has lost its scheduler; False for other executors."""
    return getattr(getattr(executor, "_client", None), "status", "") in ("closing", "closed")


def workers(executor: Executor) -> dict[str, int]:
    """The threads of each worker by its address; empty if the executor is not Dask's."""
    client: Any = getattr(executor, "_client", None)
    if not hasattr(client, "nthreads"):
        return {}
    try:
        return dict(client.nthreads())
    except Exception:  # whatever a broken connection raises: nobody works there now
        return {}
