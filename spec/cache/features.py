"""What can be said of a text and how it arrives, in a word each; sizes are compared as letters.

several steps               the text does not arrive at once
a chunk of several tokens   some step brings more than one to a sequence
a window                    a token sees so many keys, and not all so far
a text beyond the window    there are more tokens than keys that a token sees
padding                     sequences are not as long, or get as many tokens, in every step
scores beyond 1000          a query has such a score, or its negative, of some key, be it of
                            a later token or of the other text
"""

from collections.abc import Mapping

import numpy as np

from spec.attention import definition
from spec.cache.notation import Problem
from spec.cache.reading import arriving
from spec.features import FORMATS, Feature, Vocabulary


def _beyond(limit: float, problem: Problem) -> bool:
    """Whether a query and a key of either text have so large a score, or its negative."""
    q, k = (
        np.concatenate(pair, axis=2)
        for pair in ((problem.q, problem.q_other), (problem.k, problem.k_other))
    )
    s = q @ definition.shared(k, problem.H).swapaxes(-1, -2)
    return bool(np.abs(s).max(initial=0) > limit * np.sqrt(problem.D))


WORDS: Mapping[str, Feature] = {
    "several steps": lambda p: len(arriving(p)) > 1,
    "a chunk of several tokens": lambda p: bool(arriving(p).max(initial=0) > 1),
    "a window": lambda p: p.window is not None,
    "a text beyond the window": lambda p: p.window is not None and p.window < p.N,
    "padding": lambda p: not p.even,
    "grouped heads": lambda p: p.G != p.H,
    "scores beyond 1000": lambda p: _beyond(1000, p),
    **FORMATS,
}
VOCABULARY = Vocabulary(WORDS, "BHGNMDE", (("D", "E"), ("N", "M")))
