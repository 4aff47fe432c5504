"""The words for sequences that arrive in steps. Sizes are compared by the letters of their axes."""

from collections.abc import Mapping
from functools import partial

import numpy as np

from spec.attention import definition
from spec.attention.meanings import MEANINGS as ATTENTION
from spec.cache.notation import Problem
from spec.cache.reading import arriving
from spec.features import FORMATS, Feature, Vocabulary

STEPS = (2, 3, 4, 8)  # a cache may be wrong from the next one on


def _beyond(limit: float, problem: Problem) -> bool:
    """Whether a query and a key of either text have so large a score, or its negative."""
    q, k = (
        np.concatenate(pair, axis=2)
        for pair in ((problem.q, problem.q_other), (problem.k, problem.k_other))
    )
    s = q @ definition.shared(k, problem.H).swapaxes(-1, -2)
    return bool(np.abs(s).max(initial=0) > limit * np.sqrt(problem.D))


def _arrives_in_more(count: int, problem: Problem) -> bool:
    """Whether the sequence arrives in more than so many steps."""
    return len(arriving(problem)) > count


WORDS: Mapping[str, Feature] = {
    "several steps": partial(_arrives_in_more, 1),
    **{f"more than {x} steps": partial(_arrives_in_more, x) for x in STEPS},
    "a chunk of several tokens": lambda p: bool(arriving(p).max(initial=0) > 1),
    "a window": lambda p: p.window is not None,
    "a sequence longer than the window": lambda p: p.window is not None and p.window < p.N,
    "padding": lambda p: not p.even,
    "a full cache": lambda p: p.full,
    "grouped heads": lambda p: p.G != p.H,
    "scores beyond 1000": lambda p: _beyond(1000, p),
    **FORMATS,
}

MEANINGS: Mapping[str, str] = {
    **ATTENTION,
    "N": "the number of tokens of the sequence that is read",
    "M": "the number of tokens of another sequence",
    "several steps": "the sequence does not arrive at once",
    "more than # steps": "the sequence arrives in more than # steps, each a call of extend",
    "a chunk of several tokens": "a step brings more than one token to a sequence",
    "a window": "a token attends to the last keys only",
    "a sequence longer than the window": "the sequence has more tokens than the window has keys",
    "padding": "the sequences of a batch differ in length, or arrive in unequal steps",
    "a full cache": "the cache has room for the tokens of the sequence, and for no more",
    "scores beyond #": "a query has a score above # or below -# with a key of either sequence",
}

VOCABULARY = Vocabulary(WORDS, "BHGNMDE", (("D", "E"), ("N", "M")))
