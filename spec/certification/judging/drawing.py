"""Problems drawn for a clause, the simplest first.

Hypothesis only draws here. Its database, deadlines, health checks and shrinking
are off, and what is drawn depends on the seed, the clause, the dtype and what the
target answers, and on nothing else. It draws the numbers that problems are made of
(`choices`), many at a time: what it does for each choice takes longer than a problem.
"""

import hashlib
import math
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

from spec.certification.judging.uniform import BACKEND, SEED
from spec.choices import Numbered
from spec.clause import Clause
from spec.domain import Scope

BUNDLE = 100  # numbers that are drawn at once, at most
SETTINGS = hypothesis.settings(
    backend=BACKEND,
    phases=(hypothesis.Phase.generate,),
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
    verbosity=hypothesis.Verbosity.quiet,
    report_multiple_bugs=False,
    print_blob=False,
)


class Enough(BaseException):
    """Ends a run: an example has broken the clause. No Exception, which Hypothesis would replay."""


def draw(
    clause: Clause, scope: Scope, examples: int, seed: int, examine: Callable[[Any], None]
) -> None:
    """Put so many problems to `examine`, the simplest first, until it has had enough of them."""
    size = min(BUNDLE, examples)
    left = examples

    def several(octets: bytes) -> None:
        nonlocal left
        for number in islice(_numbers(octets), left):
            left -= 1
            examine(clause.over.problem(Numbered(number), scope))

    first = _number(f"{seed} {clause.number} {scope.dtype}")
    SEED.set(first)
    run = hypothesis.given(st.binary(min_size=8 * size, max_size=8 * size))(several)
    run = hypothesis.settings(SETTINGS, max_examples=1 + math.ceil((examples - 1) / size))(run)
    run = hypothesis.seed(first)(run)  # else it would ask the caller's generator for one
    with suppress(Enough), np.errstate(all="ignore"):
        run()


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


def _numbers(octets: bytes) -> Iterable[int]:
    """Each number once: the simplest bytes, which come first, are zero alone."""
    return dict.fromkeys(number for (number,) in struct.iter_unpack("<Q", octets))
