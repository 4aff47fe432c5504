"""Right computations against their budgets: `python -m tests.attention.soak_rounding SECONDS`.

Prints the largest error in units of its budget, and where a budget was exceeded.
"""

import argparse
import time
from collections import Counter

from spec.attention import rounding
from tests.attention.budget_shares import worst
from tests.attention.machine import STYLES, Machine
from tests.attention.rounding_problems import DTYPES_AND_GRADES, problem_of

SHOWN = ("o", "interval", "weights", "row sum", "lse", "dq", "dk", "dv", "dbias")
SIZES = (6, 12, 24)


def soak(seconds: float, seed: int) -> None:
    """Every style on problem after problem, in every dtype and grade."""
    most: dict[tuple[str, str, str], float] = {}
    rows: Counter[str] = Counter()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for dtype, grade in DTYPES_AND_GRADES:
            problem = problem_of(seed, dtype, grade, largest=SIZES[seed % len(SIZES)])
            rows.update(vars(rounding.coverage(problem)))
            for style in STYLES:
                for what, share in worst(problem, Machine(problem, STYLES[style])).items():
                    key = (dtype, grade, what)
                    most[key] = max(share, most.get(key, 0.0))
                    if share > 1:
                        print(f"seed {seed}, {dtype} {grade}, {style}: {what} {share:.3f}")
        seed += 1
    print(f"up to seed {seed}; {dict(rows)}")
    print(f"{'':16}", *(f"{what:>8}" for what in SHOWN))
    for dtype, grade in DTYPES_AND_GRADES:
        shares = (most.get((dtype, grade, what), 0.0) for what in SHOWN)
        print(f"{dtype + ' ' + grade:16}", *(f"{share:8.3f}" for share in shares))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    soak(arguments.seconds, arguments.seed)
