"""What a second process, and a second worker of Dask, are worth to a certificate."""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

from spec import certify
from tests.bench.growth import DENSE
from tests.bench.measured import Measured, Value, is_there

TARGETS = (("NumPy", "numpy", DENSE), ("torch", "torch", "implementations.einsum_torch:attend"))
PROCESSES, WORKERS = 1.7, 1.6  # times as fast as one, at least


def scaling() -> Iterator[Measured]:
    """Standard certificates by two of them, beside one; without causes, as these are right."""
    for name, needed, target in TARGETS:
        if is_there(needed, name):
            one, two = (_by_processes(target, count) for count in (1, 2))
            yield _beside(f"{name}, standard: two processes of an executor", one, two, PROCESSES)
    if is_there("distributed", "Dask"):
        one, two = (_by_dask(DENSE, count) for count in (1, 2))
        yield _beside("NumPy, standard: two workers of Dask", one, two, WORKERS)


def _beside(what: str, one: float, two: float, least: float) -> Measured:
    return Measured(f"{what}, relative to one", (Value(two / one, "of the time", 1 / least),))


def _by_processes(target: str, count: int) -> float:
    with ProcessPoolExecutor(count) as executor:
        return _taken(target, executor=executor)


def _by_dask(target: str, count: int) -> float:
    import distributed

    alone = {"threads_per_worker": 1, "dashboard_address": None, "worker_dashboard_address": None}
    with distributed.LocalCluster(n_workers=count, **alone) as cluster:
        return _taken(target, scheduler=cluster.scheduler_address)


def _taken(target: str, **where: Any) -> float:
    """Seconds of a certificate, after a quick one that has loaded all that it needs."""
    certify(target, profile="quick", **where)
    start = time.perf_counter()
    certify(target, **where)
    return time.perf_counter() - start
