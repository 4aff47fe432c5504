"""What can be said of a feed-forward problem, in a word each; sizes are compared as letters.

a shut gate   of some unit at some position, which receives nothing above 0
units above 6 a unit receives more than that at some position
"""

from collections.abc import Mapping

from spec.features import FORMATS, Feature, Vocabulary
from spec.feed_forward import definition

WORDS: Mapping[str, Feature] = {
    "a shut gate": lambda p: (definition.received(p) <= 0).any(),
    "units above 6": lambda p: (definition.received(p) > 6).any(),
    "an output of at most 0": lambda p: (definition.feed_forward(p) <= 0).any(),
    "an inner bias": lambda p: p.b1.any(),
    "an outer bias": lambda p: p.b2.any(),
    **FORMATS,
}
VOCABULARY = Vocabulary(WORDS, "BNEF", (("E", "F"), ("B", "N")))
