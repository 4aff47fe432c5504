"""Certificates on a GPU, held to those that are recorded of one: python -m tests.cuda [--record].

Each target of a ledger is judged by a process of its own, as an error of a device is the end of a
process. Of another device a copy of the ledger is recorded: --ledger FILE.toml --record.
"""

import os
import subprocess
import sys
import time
from argparse import Namespace
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from tests.cuda.listed import listed, parser, runs

TF32 = {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}
SAID = {0: "as it is recorded", 1: "not as it is recorded", 3: "not whole"}


def main() -> int:
    """Judge what the ledger names; 1 if something is not as it is recorded, or was not run."""
    asked = parser("python -m tests.cuda", __doc__)
    asked.add_argument("--record", action="store_true", help="write down what is found")
    words = asked.parse_args()
    names = listed(words)
    if not runs(names):
        return 0
    with ThreadPoolExecutor(words.jobs) as pool:
        found = [*pool.map(partial(judged, words, time.monotonic() + words.seconds), names)]
    same = sum(code == 0 for code in found)
    print(f"{same} of {len(found)} are as they are recorded")
    return 0 if same == len(found) else 1


def judged(words: Namespace, end: float, name: str) -> int:
    """Hold one to its record, and say how that ended."""
    command = [sys.executable, "-m", "spec", "ledger", words.ledger, "--only", name]
    command += ["--record"] if words.record else []
    named = {**os.environ, "OMP_NUM_THREADS": "1", **(TF32 if "tf32" in name else {})}
    start = time.monotonic()
    try:
        left = max(0.0, end - start)
        done = subprocess.run(
            command, env=named, capture_output=True, text=True, timeout=left, check=False
        )
    except subprocess.TimeoutExpired:
        print(f"{name}: not run, or not to its end", flush=True)
        return 3
    lines = [line for line in done.stdout.splitlines() if line.startswith(name)]
    lines += done.stderr.strip().splitlines()[-1:] if done.returncode not in SAID else []
    said = SAID.get(done.returncode, "not run")
    took = f"{time.monotonic() - start:.0f} s"
    print(f"{name}: {said}, {took}", *lines, sep="\n    ", flush=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
