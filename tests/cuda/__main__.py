"""Certificates on a GPU: python -m tests.cuda [--profile quick] [--jobs 4] [--into FOLDER].

Each target is judged in each format by a process of its own, as an error of a device is the end of
a process. What a GPU has no kernel for, or has not come by the end of the time, is not run.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from spec.certification.ledger.brief import brief
from spec.certification.ledger.files import in_lines, written
from spec.certification.ledger.reading import read
from tests.cuda import there_is_one
from tests.cuda.targets import TARGETS, parser

TF32 = {"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}


def main() -> int:
    """Certify the torch implementations on a GPU; 1 if one of them is not certified."""
    asked = parser("python -m tests.cuda", __doc__, TARGETS)
    asked.add_argument("--profile", default="quick", choices=("quick", "standard", "deep"))
    asked.add_argument("--into", type=Path, help="a folder for the certificates, in short")
    words = asked.parse_args()
    if words.device == "cuda" and not there_is_one():
        return 0
    if words.into:
        words.into.mkdir(parents=True, exist_ok=True)
    one = partial(certified, words, time.monotonic() + words.seconds)
    with ThreadPoolExecutor(words.jobs) as pool:
        said = [*pool.map(one, runs(words.only))]
    passed, failed = said.count("certified"), said.count("not certified")
    print(f"{passed} passed, {failed} failed, {len(said) - passed - failed} not run, or not whole")
    return 1 if failed else 0


def runs(names: list[str]) -> Iterator[tuple[str, str, tuple[str, ...], bool]]:
    """What is run: a name, a target, words for the command line, and whether TF32 is on."""
    for name in names:
        judged = TARGETS[name]
        for dtype in judged.dtypes:
            yield f"{name}-{dtype}", judged.target, ("--dtype", dtype, *judged.words()), False
    for name in {"einsum", "mha"} & {*names}:
        yield f"{name}-tf32", TARGETS[name].target, ("--dtype", "float32"), True


def certified(
    words: argparse.Namespace, end: float, run: tuple[str, str, tuple[str, ...], bool]
) -> str:
    """What came of a target, whose certificate is written into the folder, if there is one."""
    name, target, more, tf32 = run
    file = words.into / f"{name}.json" if words.into else None
    asked = ("--device", words.device, "--profile", words.profile, *more)
    command = [sys.executable, "-m", "spec", "certify", target, *asked]
    command += ["--json", str(file)] if file else []
    named, start = (
        {**os.environ, "OMP_NUM_THREADS": "1", **(TF32 if tf32 else {})},
        time.monotonic(),
    )
    try:
        left = max(0.0, end - start)
        done = subprocess.run(command, env=named, capture_output=True, timeout=left, check=False)
    except subprocess.TimeoutExpired:  # what there is of it stays as it is, problems and all
        print(f"{name}: not run, or not to its end", flush=True)
        return "not run"
    said = {0: "certified", 1: "not certified", 3: "incomplete"}.get(done.returncode, "not run")
    why = done.stderr.decode().strip().splitlines()[-1:] if said == "not run" else ""
    print(f"{name}: {said}, {time.monotonic() - start:.0f} s", *why, flush=True)
    if file and file.exists():
        written(file, in_lines(brief(read(file))))
    return said


if __name__ == "__main__":
    sys.exit(main())
