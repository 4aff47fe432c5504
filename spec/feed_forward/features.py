"""The words for feed-forward problems. Sizes are compared by the letters of their axes."""

from collections.abc import Mapping

from spec.features import FORMATS, Feature, Vocabulary
from spec.feed_forward import definition
from spec.meanings import BATCH

WORDS: Mapping[str, Feature] = {
    "a closed gate": lambda p: (definition.received(p) <= 0).any(),
    "units above 6": lambda p: (definition.received(p) > 6).any(),
    "an output of at most 0": lambda p: (definition.feed_forward(p) <= 0).any(),
    "an inner bias": lambda p: p.b1.any(),
    "an outer bias": lambda p: p.b2.any(),
    **FORMATS,
}

MEANINGS: Mapping[str, str] = {
    **BATCH,
    "N": "the number of tokens",
    "E": "the width of a token",
    "F": "the number of inner units",
    "a closed gate": "a unit receives 0 or less at some token",
    "units above #": "a unit receives more than # at some token",
    "an output of at most #": "a number of the output is # or less",
    "an inner bias": "the bias of the inner units is not 0",
    "an outer bias": "the bias of the output is not 0",
}

VOCABULARY = Vocabulary(WORDS, "BNEF", (("E", "F"), ("B", "N")))
