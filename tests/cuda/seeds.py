"""Whether a seed makes a false alarm: python -m tests.cuda.seeds [--seeds 20] [--only NAME ...].

What is recorded as certified on a GPU is judged there with one seed after the other, each target by
a process of its own, so that a device is begun once; a line is printed for each certificate.
"""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from spec.certification.settings import Request
from tests.cuda.listed import listed, parser, runs


def main() -> int:
    """Certify with many seeds; 1 if one of them is not certified."""
    asked = parser("python -m tests.cuda.seeds", __doc__)
    asked.add_argument("--seeds", type=int, default=20)
    words = asked.parse_args()
    found = listed(words)
    if not runs(found):
        return 0
    end = time.time() + words.seconds
    right = [one for one in found.values() if one.recorded is not None and one.recorded.passed]
    quick = [one for one in right if words.only or one.request.profile == "quick"]
    afresh = multiprocessing.get_context("spawn")  # CUDA does not bear a fork
    with ProcessPoolExecutor(words.jobs, afresh) as pool:
        asked_for = [pool.submit(judged, x.name, x.request, words.seeds, end) for x in quick]
        done, failed = map(sum, zip(*(f.result() for f in as_completed(asked_for)), strict=True))
    print(f"{done} certificates of {words.seeds * len(quick)} came, {failed} were refused")
    return 1 if failed else 0


def judged(name: str, request: Request, seeds: int, end: float) -> tuple[int, int]:
    """How many certificates came in time, and how many of them are not certified."""
    from spec import certify

    how = "description", "conventions", "dtypes", "where", "compiled", "device", "profile"
    options = {name: getattr(request, name) for name in how}
    done = failed = 0
    for seed in range(seeds):
        if time.time() > end:
            break
        start = time.monotonic()
        found = certify(request.target, backend="torch", seed=seed, **options)
        done, failed = done + 1, failed + (not found.passed)
        broken = " ".join(f"{v.clause} ({v.force})" for v in found.failures)
        said = "certified" if found.passed else "NOT certified"
        took = f"{time.monotonic() - start:.1f} s"
        print(f"{name} {seed}: {said} {found.worst:.3f} {took} {broken}", flush=True)
    return done, failed


if __name__ == "__main__":
    sys.exit(main())
