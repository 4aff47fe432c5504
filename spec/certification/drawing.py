"""Problems drawn for a clause, the simplest first.

Hypothesis only draws here. Its database, deadlines, health checks and shrinking
are off, and what is drawn depends on the seed, the clause and the dtype; and, for one
integer in forty, on the source of the modules that are loaded, whose constants
Hypothesis likes to try.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import hypothesis
import numpy as np
from hypothesis import configuration
from hypothesis import strategies as st

from spec.clause import Clause
from spec.problems import Scope

BUNDLE = 20  # problems drawn at once: more would not fit what Hypothesis draws for an example
MANY = st.integers(0, 2**16)  # zero in the simplest example, and hardly ever again


class Enough(BaseException):
    """Ends a run: an example has broken the clause. No Exception, which Hypothesis would replay."""


@contextmanager
def _keeping_nothing() -> Iterator[None]:
    """Hypothesis would write what it learns of a caller's code to a folder beside that code."""
    place: Any = configuration.storage_directory(intent_to_write=False)
    home = Path(getattr(place, "home_directory", place))  # a plain Path in older versions
    configuration.set_hypothesis_home_dir(os.devnull)
    try:
        yield
    finally:
        configuration.set_hypothesis_home_dir(home)


def draw(
    clause: Clause, scope: Scope, examples: int, seed: int, examine: Callable[[Any], None]
) -> None:
    """Put problems to `examine`, the simplest first, until it has had enough of them.

    They come in bundles, an engine run for each: once it has seen one, the engine
    would rather repeat parts of it than draw afresh.
    """
    try:
        with np.errstate(all="ignore"), _keeping_nothing():
            for first in range(0, examples, BUNDLE):
                size = min(BUNDLE, examples - first)
                _draw_bundle(clause, scope, (first, size), seed, examine)
    except Enough:
        pass


def _draw_bundle(
    clause: Clause,
    scope: Scope,
    part: tuple[int, int],
    seed: int,
    examine: Callable[[Any], None],
) -> None:
    first, size = part

    def several(problems: list[Any]) -> None:
        if first == 0 and len(problems) > 1:
            problems = problems[1:]  # the simplest has taken the place of one
        elif len(problems) == 1 and first > 0:
            problems = []  # it has been seen
        for problem in problems:
            examine(problem)

    text = f"{seed} {first} {clause.number} {scope.dtype}"
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    hypothesis.seed(number)(
        hypothesis.settings(
            max_examples=2,
            phases=(hypothesis.Phase.generate,),
            database=None,
            deadline=None,
            suppress_health_check=list(hypothesis.HealthCheck),
            verbosity=hypothesis.Verbosity.quiet,
            report_multiple_bugs=False,
            print_blob=False,
        )(hypothesis.given(_bundles(clause.over.within(scope), size))(several))
    )()


@st.composite
def _bundles(draw: st.DrawFn, problems: st.SearchStrategy[Any], size: int) -> list[Any]:
    """Several problems, as what Hypothesis does once for each example takes longer than they.

    One in the simplest bundle, which is the first, so that it is not put again and again.
    """
    return [draw(problems) for _ in range(size if draw(MANY) else 1)]
