"""The promises about speed, measured: `tox run -e bench`, or `python -m tests.bench`.

Times stand beside those of a plain loop that only calls the implementation on the
same problems, so that a slow machine does not look like slow code. Nothing here
is a test of what is right; it exits with 1 where a promise is broken.
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from math import inf
from typing import NamedTuple

SDPA = "torch.nn.functional:scaled_dot_product_attention"
LAYER = "torch.nn:MultiheadAttention"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class Measured(NamedTuple):
    """One figure, in words, and what was promised: inf is no promise."""

    what: str
    value: float
    most: float
    unit: str

    @property
    def kept(self) -> bool:
        """Whether the promise is kept."""
        return self.value <= self.most

    def told(self) -> str:
        """A line for a person."""
        figure = f"{self.what:52}{self.value:9.3f} {self.unit:9}"
        if self.most == inf:
            return f"       {figure}"
        return f"{'kept' if self.kept else 'BROKEN':7}{figure}at most {self.most:.3g}"


def command(profile: str, target: str = SDPA) -> float:
    """Seconds for a certificate of a target by the command line, start to end."""
    words = [sys.executable, "-m", "spec", "certify", target, "--profile", profile]
    start = time.perf_counter()
    subprocess.run(words, env={**os.environ, **ONE_THREAD}, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def certificates() -> Iterable[Measured]:
    """How long a certificate takes, and how much of that is our own doing."""
    yield Measured("a quick certificate, from the command line", command("quick"), 10, "s")
    yield Measured("a standard certificate, from the command line", command("standard"), 60, "s")
    layer = command("standard", LAYER)
    yield Measured("a standard certificate of torch's layer", layer, 90, "s")
    from spec import certify

    spent = certify(SDPA, profile="standard").timings
    share = spent["elsewhere"] / spent["total"]
    yield Measured("share outside implementation, definition, budgets", share, 1 / 3, "")
    ratio = spent["total"] / spent["implementation"]
    yield Measured("beside a loop that only calls the implementation", ratio, inf, "times")


def mistakes() -> Iterable[Measured]:
    """How long until a mistake is refused, in process, at the first violation."""
    from tests.certification.test_false_alarms import WRONG, refused

    seconds = []
    for mistake in WRONG:
        start = time.perf_counter()
        caught = refused(mistake, seed=0)
        seconds.append(time.perf_counter() - start if caught else inf)
        if not caught:
            print(f"NOT REFUSED: {mistake.name}")
    yield Measured("the median mistake is refused", statistics.median(seconds), 1, "s")
    yield Measured("the slowest mistake is refused", max(seconds), 20, "s")


def fused() -> Iterable[Measured]:
    """Attention in tiles at N = M = 8192, D = 64, one head, one thread, in float32."""
    import numpy as np
    import torch

    from implementations import dense, fused_torch
    from implementations import fused as tiled

    torch.set_num_threads(1)
    chance = np.random.default_rng(0)
    arrays = [chance.standard_normal((1, 1, 8192, 64)).astype(np.float32) for _ in range(3)]
    tensors = [torch.from_numpy(x) for x in arrays]
    with torch.no_grad():
        sdpa = timed(lambda: torch.nn.functional.scaled_dot_product_attention(*tensors))
        torch_tiled = timed(lambda: fused_torch.attend(*tensors))
    numpy_tiled = timed(lambda: tiled.attend(*arrays))
    whole = timed(lambda: dense.attend(*arrays), runs=2)
    yield Measured("NumPy in tiles, beside the whole matrix", numpy_tiled / whole, 0.9, "times")
    yield Measured("NumPy in tiles, beside torch's function", numpy_tiled / sdpa, 1.5, "times")
    yield Measured("torch in tiles, beside torch's function", torch_tiled / sdpa, 1.2, "times")
    yield Measured("extra memory of NumPy in tiles", memory(arrays), 0.05, "of N x M")


def timed(call: Callable[[], object], runs: int = 5) -> float:
    """The least of several times, in seconds."""
    call()
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        call()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def memory(arrays: list[object]) -> float:
    """The most memory that the forward pass has beyond its output, in N x M matrices."""
    import tracemalloc

    from implementations import fused as tiled

    tracemalloc.start()
    out = tiled.attend(*arrays)  # type: ignore[arg-type]
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return float((most - out.nbytes) / (8192 * 8192 * 4))


PARTS = {"certificates": certificates, "mistakes": mistakes, "fused": fused}


def main() -> int:
    """Measure the parts that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    kept = True
    for name in parser.parse_args().parts or PARTS:
        for measured in PARTS[name]():
            kept &= measured.kept
            print(measured.told(), flush=True)
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
