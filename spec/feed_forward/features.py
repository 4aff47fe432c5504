"""The words for feed-forward problems. Sizes are compared by the letters of their axes.

a closed gate   some unit at some position receives at most 0
units above 6   some unit at some position receives more than 6
"""

from collections.abc import Mapping

from spec.features import FORMATS, Feature, Vocabulary
from spec.feed_forward import definition

WORDS: Mapping[str, Feature] = {
    "a closed gate": lambda p: (definition.received(p) <= 0).any(),
    "units above 6": lambda p: (definition.received(p) > 6).any(),
    "an output of at most 0": lambda p: (definition.feed_forward(p) <= 0).any(),
    "an inner bias": lambda p: p.b1.any(),
    "an outer bias": lambda p: p.b2.any(),
    **FORMATS,
}
VOCABULARY = Vocabulary(WORDS, "BNEF", (("E", "F"), ("B", "N")))
