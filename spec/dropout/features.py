"""The words for attention with dropout. Sizes are compared by the letters of their axes.

dropping             weights are dropped: in training, at a rate above zero
a rate of few bits   a multiple of 1/16, which random numbers of four bits can have
"""

from collections.abc import Mapping

from spec.dropout.notation import Problem
from spec.features import FORMATS, Feature, Vocabulary

BITS = 16  # the least rate that is of few bits is one by so many


def _of_few_bits(problem: Problem) -> bool:
    return (BITS * problem.p).is_integer()


WORDS: Mapping[str, Feature] = {
    "training": lambda p: p.training,
    "dropping": lambda p: p.rate > 0,
    "a rate of zero": lambda p: p.p == 0,
    "a rate of one": lambda p: p.p == 1,
    "a rate of one half": lambda p: p.p == 0.5,
    "a rate of few bits": _of_few_bits,
    "causal": lambda p: p.causal,
    "a mask": lambda p: p.mask is not None,
    "a scale": lambda p: p.scale is not None,
    "a masked key": lambda p: not p.allowed.all(),
    **FORMATS,
}
VOCABULARY = Vocabulary(WORDS, "BHNMDE", (("N", "M"), ("D", "E")))
