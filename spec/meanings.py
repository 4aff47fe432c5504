"""The definitions of words for problems: a word that has numbers in it is looked up with `#`.

Each chapter has its own; the words for formats are the same in all of them.
"""

import re
from collections.abc import Mapping

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:e\d+)?\b")
FORMATS: Mapping[str, str] = {
    "float64": "arrays in float64",
    "float32": "arrays in float32",
    "float16": "arrays in float16",
    "bfloat16": "arrays in bfloat16",
    "16 bits": "arrays in float16 or bfloat16",
}
BATCH = {"B": "the batch size"}
HEADS = {**BATCH, "H": "the number of heads (of queries, if there are fewer of keys)"}


def meaning(word: str, meanings: Mapping[str, str]) -> str:
    """The definition of a word in a sentence, or "" if there is none."""
    if word in FORMATS:
        return FORMATS[word]
    if word in meanings:
        return meanings[word]
    found = meanings.get(NUMBER.sub("#", word), "")
    numbers = NUMBER.findall(word)
    return found.replace("#", numbers[0]) if numbers else found
