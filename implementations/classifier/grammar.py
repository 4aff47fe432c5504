"""A grammar that generates small labelled texts, each mostly about its topic.

A text is a sequence of sentences. Each sentence is, at random, about the topic of the text, about
another topic, or about none. A sentence expands a pattern, in which symbols are capitals and other
words stand for themselves:

    N V A       a noun, a verb, an adjective of the topic
    NS VS AS    the same, of the words that all topics share
    P X         a preposition; a name

Because the random choice may favour another topic, no classifier can always be right.
"""

from typing import NamedTuple

import numpy as np

from implementations.classifier.topics import PLACES, SHARED, SYLLABLES, TOPICS, Words

PATTERNS = (
    "the A N V P the NS",
    "the NS VS that the N V",
    "X VS the A N P the NS",
    "it was a AS NS and the N V",
    "P the NS the N was A",
    "X VS about the N and the NS",
    "no NS VS why the N V so late",
    "a NS of the N VS P the AS NS",
)
IDLE_PATTERNS = (
    "X VS the AS NS",
    "the NS VS P the AS NS",
    "it was a AS NS",
    "the NS and the NS VS",
)


class Mixture(NamedTuple):
    """The composition of texts: probabilities of sentences, and the number of sentences."""

    own: float = 0.6
    other: float = 0.12
    shortest: int = 4
    longest: int = 10


class Text(NamedTuple):
    """A text, and the number of its topic."""

    text: str
    label: int


def corpus(count: int, seed: int, mixture: Mixture | None = None) -> list[Text]:
    """Return `count` texts in random order, equally many of each topic; reproducible by seed."""
    chance = np.random.default_rng(seed)
    labels = chance.permutation(np.arange(count) % len(TOPICS))
    return [Text(document(int(x), chance, mixture or Mixture()), int(x)) for x in labels]


def document(label: int, chance: np.random.Generator, mixture: Mixture) -> str:
    """Return one text about topic number `label`."""
    length = int(chance.integers(mixture.shortest, mixture.longest + 1))
    return " ".join(sentence(about(label, chance, mixture), chance) for _ in range(length))


def about(label: int, chance: np.random.Generator, mixture: Mixture) -> int | None:
    """Return the topic of the next sentence: the number of a topic, or None."""
    throw = chance.random()
    if throw < mixture.own:
        return label
    if throw < mixture.own + mixture.other:
        return (label + int(chance.integers(1, len(TOPICS)))) % len(TOPICS)
    return None


def sentence(topic: int | None, chance: np.random.Generator) -> str:
    """Return one sentence, with a full stop."""
    patterns = IDLE_PATTERNS if topic is None else PATTERNS
    own = SHARED if topic is None else tuple(TOPICS.values())[topic]
    pattern = patterns[int(chance.integers(len(patterns)))]
    return " ".join(expanded(symbol, own, chance) for symbol in pattern.split()) + " ."


def expanded(symbol: str, own: Words, chance: np.random.Generator) -> str:
    """Return the word for one symbol of a pattern."""
    if symbol == "X":
        return "".join(SYLLABLES[i] for i in chance.integers(len(SYLLABLES), size=2))
    lists = {
        **dict(zip(("N", "V", "A"), own, strict=True)),
        **dict(zip(("NS", "VS", "AS"), SHARED, strict=True)),
        "P": PLACES,
    }
    choices = lists.get(symbol, (symbol,))
    return choices[int(len(choices) * chance.random() ** 2)]  # first words are more frequent
