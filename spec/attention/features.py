"""The words for attention problems. Sizes are compared by the letters of their axes.

    an idle query       a query is fully masked: by truth values, which are all masks but an
                        additive one, or by -inf in an additive mask
    scores above 88     a query has such a score with a visible key, its bias included;
                        exp(88) is the end of float32, exp(11) that of float16
    scores beyond 50    above 50, or below -50
    scores 80 apart     the highest of a problem and the lowest; float32 hardly has exp(-80)
    scores of a query 80 apart  the same for the visible keys of one query
    biases of either kind  finite ones of an additive mask, or those of ALiBi slopes
    a hidden key ahead  a masked key would have a larger score than all visible ones, or is NaN;
                        far ahead: a penalty of ten thousand does not leave it far behind
    a key no penalty hides   a masked key is far ahead, or its query is fully masked
    a key no fill of -1e30 hides   a query has masked keys, and its visible ones and its sink score
                        about as low as that, or lower
    a weight of next to nothing   a query is not fully masked, and a key has none of its weight,
                        or less than exp(-64), where some kernels clip the exponent
    a key in the future  causality masks a key that nothing else does
    a key behind the window  the left bound does; a key ahead of the window: the right one does
    a mask that tells   it matters: only the mask masks some key, or it adds to a visible score
    a key at the left bound  and one at the right: it is visible, and the next one is not
    a padding mask      it has one row for all queries
    a mask of outer axes   it is written out along the axis of heads, of batches, or both
    an uneven mask      its entries are not all the same
    a mask broadcast inside   an axis is broadcast behind one that is written out: the entries,
                        repeated in their order, do not make the whole mask
    an inexact scale    the scale, given or default, is no power of two: products round
    a scale other than 1   likewise, given or default
    several scores      more than one key, or a key and a sink: the softmax is not trivial
    places off their rows  given positions change distances or leading keys, and are used
    keys off their rows  key positions are not the row numbers; queries off their rows likewise
    keys out of step    key positions do not count up by one, and are used
    places apart        positions of queries differ from those of keys, and are used
    places beyond the rows  a position lies behind the last row of keys, and is used
    places out of order  a key comes before one with a lower position
    places below zero   and places beyond 256, in either sign: of a query or of a key
    texts apart         a key is masked for a query as its segment differs, or is padding
    texts out of order  a token has a lower segment than one before it
    texts beyond 255    a token has a larger segment
    texts 256 apart     a key is masked, and its segment differs by a multiple of that
    padding             a query or a key with a negative segment; on both sides: one of each
    a sink above all scores  for some query and its head: most of the weight has no value
    scores beyond the cap  the product of a query and a visible key is, before the soft-cap
    a length above 16   of the queries, or of the keys
    an axis of one      the output has one, which code may drop
    entries beyond 8    in either sign: of q, k or v
    tiny values         one is close to the smallest normal number, and a mean may lie below that
    entries of more than 11 bits   of q, k or v; float16 and TF32 keep 11

The words for the use of an option follow the rows of `spec.attention.options`.
"""

from collections.abc import Mapping
from functools import partial

import numpy as np

from spec.attention import forms, magnitudes, texts
from spec.attention.options import (
    CAP,
    CAUSAL,
    FIRST,
    GROUPED,
    MASK,
    QUERY_POSITIONS,
    QUERY_SEGMENTS,
    SCALE,
    SINGLE,
    SINKS,
    SLOPES,
    WINDOW,
    Capability,
)
from spec.features import FORMATS, Feature, Vocabulary

ABOVE = (1, 11, 50, 88)
BELOW = ("-50", "-1000", "-30000", "-1e30")
FILLS = ("-10000", "-30000", "-1e30")
FARTHER = (256, 30000, 10000000)
LARGE, LOW = (8, 100), (-1000, -10000)
FULL = (15, 255)  # the largest number of four bits, and of a byte

HOLDS = {option.capability: option.holds for option in SINGLE}
WORDS: Mapping[str, Feature] = {
    "causal": CAUSAL.asked,
    "a key in the future": forms.in_the_future,
    "a window": WINDOW.asked,
    "a bound to the left": lambda p: p.window[0] is not None,
    "a bound to the right": lambda p: p.window[1] is not None,
    "a bound to one side": lambda p: (p.window[0] is None) != (p.window[1] is None),
    "a bound of zero": lambda p: 0 in p.window,
    "a key behind the window": partial(forms.beside_the_window, 0),
    "a key ahead of the window": partial(forms.beside_the_window, 1),
    "a key at the left bound": partial(forms.at_the_bound, 0),
    "a key at the right bound": partial(forms.at_the_bound, 1),
    "first keys": FIRST.asked,
    "a first key behind the window": partial(forms.kept, 0),
    "a key behind the first ones": partial(forms.kept, 1),
    "a mask": MASK.asked,
    "a boolean mask": HOLDS[Capability.MASK],
    "an additive mask": HOLDS[Capability.BIAS],
    "a mask of rows": forms.axis(2),
    "a mask of heads": forms.axis(3),
    "a mask of batches": forms.axis(4),
    "a mask of outer axes": lambda p: forms.axis(3)(p) or forms.axis(4)(p),
    "a padding mask": forms.of_padding,
    "an uneven mask": lambda p: p.mask is not None and len(np.unique(p.mask)) > 1,
    "a mask broadcast inside": forms.broadcast_inside,
    "a mask that tells": forms.telling_mask,
    "a hidden key": lambda p: not p.allowed.all(),
    "an idle query": lambda p: bool(p.idle.any()),
    "an idle query by truth values": lambda p: forms.idle(p, by=True),
    "an idle query by -inf": lambda p: forms.idle(p, by=False),
    "finite biases": lambda p: forms.added(p).size > 0,
    "biases of either kind": lambda p: p.slopes is not None or forms.added(p).size > 0,
    **{f"biases below {x}": forms.added_below(x) for x in LOW},
    "a cap": CAP.asked,
    "scores beyond the cap": forms.beyond_the_cap,
    "a sink": SINKS.asked,
    "sinks above 8": lambda p: p.sinks is not None and bool((p.sinks > 8).any()),
    "a sink above all scores": magnitudes.sink_above_all,
    "several scores": lambda p: p.M + (p.sinks is not None) > 1,
    "a query that sees a sink alone": forms.sees_a_sink_alone,
    "slopes": SLOPES.asked,
    "slopes of each sequence": HOLDS[Capability.SLOPES_EACH],
    "positions": QUERY_POSITIONS.asked,
    "positions of queries": lambda p: p.query_positions is not None,
    "positions of keys": lambda p: p.key_positions is not None,
    "places off their rows": forms.off_their_rows,
    "queries off their rows": forms.queries_off_their_rows,
    "keys off their rows": forms.keys_off_their_rows,
    "keys out of step": forms.keys_out_of_step,
    "places apart": forms.places_apart,
    "places beyond the rows": forms.beyond_the_rows,
    "places out of order": forms.places_out_of_order,
    "places below zero": forms.below_zero,
    **{f"places beyond {x}": forms.beyond(x) for x in FARTHER},
    "segments": QUERY_SEGMENTS.asked,
    "texts apart": forms.texts_apart,
    "texts out of order": forms.out_of_order,
    **{f"texts beyond {x}": forms.numbers_beyond(x) for x in FULL},
    **{f"texts {x + 1} apart": forms.alike_in(x + 1) for x in FULL},
    "padding": forms.padding,
    "padding on both sides": forms.padding_on_both_sides,
    "a cotangent of the log-sum-exp": lambda p: p.dlse is not None,
    "a scale": SCALE.asked,
    "a scale of zero": lambda p: p.scale == 0,
    "a scale below zero": lambda p: p.scale is not None and p.scale < 0,
    "a nonpositive scale": lambda p: p.scale is not None and p.scale <= 0,
    "a scale other than 1": magnitudes.scaled,
    "an inexact scale": magnitudes.inexact,
    "entries of more than 11 bits": magnitudes.long,
    "tiny values": magnitudes.tiny,
    **{f"entries beyond {x}": partial(magnitudes.large, x) for x in LARGE},
    "grouped heads": GROUPED.asked,
    "views": lambda p: p.memory != "contiguous",
    "strided memory": HOLDS[Capability.STRIDES],
    "expanded memory": lambda p: p.memory == "expanded",
    "keys in pages": HOLDS[Capability.PAGES],
    "pages of several keys": lambda p: p.page > 1,
    "several pages": lambda p: 0 < p.page < p.M,
    "room behind the last key": lambda p: not p.page or any(len(t.k) % p.page for t in texts.of(p)),
    "tokens of no text": HOLDS[Capability.SPARE],
    "new keys": HOLDS[Capability.ADDED],
    "several new keys": lambda p: texts.added(p) > 1,
    **{f"scores above {x}": partial(magnitudes.above, x) for x in ABOVE},
    **{f"scores below {x}": partial(magnitudes.below, float(x)) for x in BELOW},
    **{f"scores beyond {x}": partial(magnitudes.beyond, x) for x in (11, 50, 30000)},
    "scores 80 apart": magnitudes.apart,
    "scores of a query 80 apart": magnitudes.apart_in_a_row,
    "weights below 0.0001": magnitudes.small,
    "a weight of next to nothing": magnitudes.next_to_nothing,
    "a hidden key ahead": partial(magnitudes.ahead, 0),
    "a hidden key far ahead": partial(magnitudes.ahead, magnitudes.FAR),
    "a key no penalty hides": magnitudes.unhidden,
    **{f"a key no fill of {x} hides": partial(magnitudes.unfilled, float(x)) for x in FILLS},
    "a key no fill of half of the lowest number hides": partial(magnitudes.unfilled_by, 0.5),
    "a key no fill of 0.7 of the lowest number hides": partial(magnitudes.unfilled_by, 0.7),
    "values that add up beyond 65504": partial(magnitudes.add_up, 65504),
    "a length above 16": lambda p: max(p.N, p.M) > 16,
    "an axis of one": lambda p: 1 in (p.B, p.H, p.N, p.E),
    "a NaN": lambda p: bool(np.isnan(p.q).any() or np.isnan(p.k).any() or np.isnan(p.v).any()),
    "D is no power of 2": lambda p: bool(p.D & (p.D - 1)),
    **FORMATS,
}
PAIRS = (("N", "M"), ("D", "E"), ("B", "H"))
FREQUENT = (
    "an axis of one",
    "an uneven mask",
    "a mask that tells",
    "several scores",
    "a length above 16",
)
POSITIVE = (
    "a key at the left bound",
    "a key at the right bound",
    "an axis of one",
    "several scores",
    "views",
    "strided memory",
    "expanded memory",
)
VOCABULARY = Vocabulary(WORDS, "BHGNMDE", PAIRS, FREQUENT, POSITIVE)
