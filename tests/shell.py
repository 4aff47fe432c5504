"""The command line as people start it: in a process of its own."""

import os
import subprocess
import sys

FEW = ("--profile", "quick", "--dtype", "float32")


def run(*words, cwd=None, program=("-m", "spec"), path=None, timeout=120):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(x for x in (sys.path if path is None else path) if x),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [sys.executable, "-W", "error", *program, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        cwd=cwd,
        env=environment,
    )


def certify(name, *words, **options):
    return run("certify", f"tests.targets:{name}", *FEW, *words, **options)
