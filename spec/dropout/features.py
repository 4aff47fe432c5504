"""The words for attention with dropout. Sizes are compared by the letters of their axes."""

from collections.abc import Mapping

from spec.attention.meanings import MEANINGS as ATTENTION
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

MEANINGS: Mapping[str, str] = {
    **ATTENTION,
    "training": "the call is one of training",
    "dropping": "weights are dropped: in training, at a rate above 0",
    "a rate of zero": "the rate of dropout is 0",
    "a rate of one": "the rate of dropout is 1",
    "a rate of one half": "the rate of dropout is 0.5",
    "a rate of few bits": "the rate is a multiple of 1/16, as random numbers of four bits have it",
}

VOCABULARY = Vocabulary(WORDS, "BHNMDE", (("N", "M"), ("D", "E")))
