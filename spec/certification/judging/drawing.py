"""Problems drawn for a clause, the simplest first.

Hypothesis only draws here. Its database, deadlines, health checks and shrinking
are off, and what is drawn depends on the seed, the clause, the dtype and what the
target answers, and on nothing else.
"""

import hashlib
import itertools
import math
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import hypothesis
import numpy as np
from hypothesis import strategies as st

from spec.certification.judging.choices import BACKEND, SEED
from spec.clause import Clause
from spec.domain import Scope

BUNDLE = 20  # problems drawn at once: more would not fit what Hypothesis draws for an example
MANY = st.integers(0, 2**32)  # zero in the simplest example, and hardly ever again
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
    clause: Clause,
    scope: Scope,
    examples: int,
    seed: int,
    examine: Callable[[Any], None],
    times: int = 1,
) -> None:
    """Put problems to `examine`, the simplest first, until it has had enough of them.

    times: how often so many examples are drawn, if it has not.
    """
    bundles = math.ceil((examples - 1) / BUNDLE)
    size = math.ceil((examples - 1) / max(1, bundles))
    seen = itertools.count(1)

    def several(problems: list[Any]) -> None:
        for problem in problems:
            if next(seen) <= examples * times:
                examine(problem)

    number = _number(f"{seed} {clause.number} {scope.dtype}")
    SEED.set(number)
    run = hypothesis.given(_bundle(clause.over.within(scope), size))(several)
    run = hypothesis.settings(SETTINGS, max_examples=1 + bundles * times)(run)
    run = hypothesis.seed(number)(run)  # else it would ask the caller's generator for one
    with suppress(Enough), np.errstate(all="ignore"):
        run()


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


@st.composite
def _bundle(draw: st.DrawFn, problems: st.SearchStrategy[Any], size: int) -> list[Any]:
    """Several problems, as what Hypothesis does once for each example takes longer than they.

    One in the simplest bundle, which comes first.
    """
    return [draw(problems) for _ in range(size if draw(MANY) else 1)]
