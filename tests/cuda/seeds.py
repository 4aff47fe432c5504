"""Whether a seed makes a false alarm: python -m tests.cuda.seeds [--seeds 20] [--only NAME ...].

Each target is judged in each format by a process of its own, with one seed after the other, so that
a device is begun once; a line is printed for each certificate.
"""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.cuda import there_is_one
from tests.cuda.targets import TARGETS, parser

# What was certified on a GPU.
CERTIFIED = "math", "efficient-aligned", "flash-aligned", "triton", "autograd", "einsum"


def main() -> int:
    """Certify with many seeds, quick; 1 if one of them is not certified."""
    asked = parser("python -m tests.cuda.seeds", __doc__, CERTIFIED)
    asked.add_argument("--seeds", type=int, default=20)
    words = asked.parse_args()
    if words.device == "cuda" and not there_is_one():
        return 0
    end = time.time() + words.seconds
    runs = [(name, dtype) for name in words.only for dtype in TARGETS[name].dtypes]
    afresh = multiprocessing.get_context("spawn")  # CUDA does not bear a fork
    with ProcessPoolExecutor(words.jobs, afresh) as pool:
        asked_for = [pool.submit(judged, *run, words.seeds, words.device, end) for run in runs]
        done, failed = map(sum, zip(*(f.result() for f in as_completed(asked_for)), strict=True))
    print(f"{done} certificates of {words.seeds * len(runs)} came, {failed} were refused")
    return 1 if failed else 0


def judged(name: str, dtype: str, seeds: int, device: str, end: float) -> tuple[int, int]:
    """How many certificates came in time, and how many of them are not certified."""
    from spec import certify

    target, _, where, compiled = TARGETS[name]
    options = {"where": where, "compiled": compiled, "device": device, "profile": "quick"}
    done = failed = 0
    for seed in range(seeds):
        if time.time() > end:
            break
        start = time.monotonic()
        found = certify(target, backend="torch", dtypes=(dtype,), seed=seed, **options)
        done, failed = done + 1, failed + (not found.passed)
        broken = " ".join(f"{v.clause} ({v.force})" for v in found.failures)
        said = "certified" if found.passed else "NOT certified"
        took = f"{time.monotonic() - start:.1f} s"
        print(f"{name} {dtype} {seed}: {said} {found.worst:.3f} {took} {broken}", flush=True)
    return done, failed


if __name__ == "__main__":
    sys.exit(main())
