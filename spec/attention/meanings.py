"""The definitions of the words in `spec.attention.features`: what is true of a problem.

A score counts with its bias, for a query and a key; a key is visible to a query unless it is
masked by anything: a mask, causality, a window, a segment, a length.
"""

from collections.abc import Mapping

from spec.meanings import HEADS

LETTERS: Mapping[str, str] = {
    **HEADS,
    "G": "the number of heads of keys and values",
    "N": "the number of queries",
    "M": "the number of keys",
    "D": "the width of a query and a key (head size)",
    "E": "the width of a value",
}
MASKS: Mapping[str, str] = {
    "causal": "causality is on",
    "a key in the future": "causality masks a key that nothing else masks",
    "a window": "a sliding window bounds the visible keys",
    "a left window bound": "the window is bounded in the past",
    "a right window bound": "the window is bounded in the future",
    "a window with one bound": "the window is bounded on one side only",
    "a window bound of zero": "a bound of the window is 0",
    "a key before the window": "the left bound of the window masks a key",
    "a key after the window": "the right bound of the window masks a key",
    "a key at the left window bound": "a visible key lies exactly at the left bound",
    "a key at the right window bound": "a visible key lies exactly at the right bound",
    "leading keys": "a window never masks the leading keys",
    "a leading key before the window": "a key is visible only because it is a leading key",
    "a key after the leading ones": "one leading key more would make another key visible",
    "a mask": "a boolean or an additive mask is given",
    "a boolean mask": "a mask of booleans is given",
    "an additive mask": "a mask of numbers is given, which are added to the scores",
    "an additive mask in float32 with arrays of 16 bits": "the numbers of the mask are in float32",
    "a mask per query": "the mask has an axis of queries",
    "a mask per head": "the mask has an axis of heads",
    "a mask per sequence": "the mask has an axis of batches",
    "a mask of more than two axes": "the mask has an axis of heads or of batches",
    "a padding mask": "the mask has one row for all queries",
    "a mask whose entries differ": "the mask has more than one value",
    "a mask broadcast along an inner axis": "an axis of length 1 stands behind a longer one",
    "a mask that matters": "the mask alone masks a key, or adds to a visible score",
    "a masked key": "some key is masked for some query",
    "a fully masked query": "a query may attend to no key",
    "a query fully masked by booleans": "a query may attend to no key, and no additive mask is why",
    "a query fully masked by -inf": "a query may attend to no key, by -inf in an additive mask",
    "finite biases": "an additive mask has finite numbers other than 0",
    "biases of any kind": "there are finite biases, or ALiBi slopes",
    "biases below #": "a finite bias is below #",
}
SCORES: Mapping[str, str] = {
    "a soft-cap": "scores are soft-capped",
    "scores beyond the soft-cap": "a visible score is beyond the soft-cap before it is applied",
    "an attention sink": "heads have a learned logit without a value",
    "attention sinks above #": "the logit of an attention sink is above #",
    "an attention sink above all scores": "for a query, the sink is above all scores",
    "several scores": "there is more than one key, or a key and an attention sink",
    "a query that sees only an attention sink": "a query has a sink, and may attend to no key",
    "ALiBi slopes": "slopes lower scores by the distance of the key",
    "ALiBi slopes per sequence": "the slopes differ between the sequences of a batch",
    "a cotangent of the log-sum-exp": "gradients flow through the log-sum-exp as well",
    "a scale": "a scale is given in the call",
    "a scale of zero": "the given scale is 0",
    "a scale below zero": "the given scale is negative",
    "a nonpositive scale": "the given scale is 0 or negative",
    "a scale other than 1": "the scale, given or 1/sqrt(D), is not 1",
    "an inexact scale": "the scale, given or 1/sqrt(D), is no power of 2, so products round",
    "scores above #": "a visible score is above #",
    "scores below #": "a visible score is below #",
    "scores beyond #": "a visible score is above # or below -#",
    "scores out of the range of exp": "the exponentials of the scores of a query overflow, or "
    "vanish, if the maximum is not subtracted",
    "scores # apart": "two visible scores differ by more than #",
    "scores of one query # apart": "two visible scores of one query differ by more than #",
    "weights below #": "a visible key has a weight below #",
    "a negligible weight": "a key has no weight, or less than exp(-64), for a query that may "
    "attend to a key",
    "a masked key that scores highest": "a masked key has a higher score than all visible ones",
    "a masked key that scores far above all visible ones": "a masked key has a score so far above "
    "all visible ones that adding -10000 does not mask it",
    "a key that survives a penalty": "a masked key keeps a weight if its score is lowered by "
    "10000, and not set to -inf",
    "a key that survives a fill of #": "a masked key keeps a weight if its score is set to #",
    "a key that survives a fill of half the lowest number": "a masked key keeps "
    "a weight if its score is set to half the lowest number",
    "a key that survives a fill of # of the lowest number": "a masked key keeps "
    "a weight if its score is set to # of the lowest number",
}
PLACES: Mapping[str, str] = {
    "positions": "the positions of queries or keys are given",
    "query positions": "the positions of queries are given",
    "key positions": "the positions of keys are given",
    "positions that differ from row numbers": "given positions change the result",
    "query positions that differ from row numbers": "given positions of queries change the result",
    "key positions that differ from row numbers": "given positions of keys change the result",
    "key positions with jumps": "the positions of keys do not count up by one, and are used",
    "query positions other than key positions": "queries and keys have other positions, and these "
    "are used",
    "positions beyond the last row": "a position is behind the last row of keys, and is used",
    "positions out of order": "a key comes before one with a lower position",
    "negative positions": "a position is below 0",
    "positions beyond #": "a position is above # or below -#",
    "segments": "an id for each token says to which sequence it belongs",
    "keys of another segment": "a key is masked because its segment is another one, or padding",
    "segments out of order": "a token has a lower segment than one before it",
    "segments beyond #": "a token has a segment above #",
    "segments # apart": "a masked key has a segment that differs by a multiple of #",
    "padding": "a query or a key has a negative segment",
    "padding on both sides": "a query and a key have a negative segment",
}
ARRAYS: Mapping[str, str] = {
    "entries of more than 11 bits": "a number of q, k or v has more bits than float16 and TF32 "
    "keep",
    "tiny values": "a number of v is close to the smallest normal number",
    "entries beyond #": "a number of q, k or v is above # or below -#",
    "values that add up beyond #": "the absolute values of a column of v add up to more than #",
    "grouped heads": "several heads of queries share one of keys",
    "views": "the arrays are not contiguous in memory",
    "strided memory": "the rows of the arrays have gaps in memory",
    "expanded memory": "the arrays repeat memory along an axis",
    "paged keys": "keys and values are in pages",
    "pages of several keys": "a page has room for more than one key",
    "several pages": "a sequence has keys in more than one page",
    "free space after the last key": "the last page of a sequence is not full",
    "packed padding tokens": "the packed arrays have tokens of no sequence",
    "new keys": "the call adds keys to a cache",
    "several new keys": "the call adds more than one key to a cache",
    "a length above 16": "there are more than 16 queries or keys",
    "an axis of length one": "B, H, N or E is 1",
    "a NaN": "a number of q, k or v is NaN",
    "D is no power of 2": "D is not 1, 2, 4, 8, 16 and so on",
}
MEANINGS: Mapping[str, str] = {**LETTERS, **MASKS, **SCORES, **PLACES, **ARRAYS}
