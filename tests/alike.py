"""Certificates that are to be the same, however they came about; and executors that things befall.

What is compared is all that a certificate has as JSON, but for seconds and for who died; and for
the libraries that were loaded, which in the process of the tests are those of other tests, too.
"""

import json
import os
import signal
from concurrent.futures import Executor, ProcessPoolExecutor

DIED = ("lost elsewhere and judged again", "workers that left")


def alike(certificate):
    told = json.loads(json.dumps(certificate.to_json()))
    del told["timings"], told["versions"]
    for verdict in told["verdicts"]:
        verdict.pop("seconds", None)
    told["notes"] = [note for note in told["notes"] if not note.startswith(DIED)]
    return told


class Acting(Executor):
    """Another executor; before it is given its task of a number, something happens."""

    def __init__(self, inner, number, action):
        self.inner, self.left, self.action = inner, number, action

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def submit(self, function, /, *arguments, **options):
        self.left -= 1
        if self.left == 0:
            self.action()
        return self.inner.submit(function, *arguments, **options)


def breaking(number):
    """Two processes, one of which is killed before the task of a number."""
    pool = ProcessPoolExecutor(2)
    return Acting(pool, number, lambda: os.kill(next(iter(pool._processes)), signal.SIGKILL))
