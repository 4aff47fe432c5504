"""The words for attention problems. Sizes are compared by the letters of their axes.

`spec.attention.meanings` defines each of them. The words for the use of an option follow the rows
of `spec.attention.options`. Why the numbers are these: exp(88) is the end of float32, exp(11) that
of float16; float32 hardly has exp(-80); some kernels clip exponents at -64; float16 and TF32 keep
11 bits of an entry.
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
    MIXED,
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
    "a left window bound": lambda p: p.window[0] is not None,
    "a right window bound": lambda p: p.window[1] is not None,
    "a window with one bound": lambda p: (p.window[0] is None) != (p.window[1] is None),
    "a window bound of zero": lambda p: 0 in p.window,
    "a key before the window": partial(forms.beside_the_window, 0),
    "a key after the window": partial(forms.beside_the_window, 1),
    "a key at the left window bound": partial(forms.at_the_bound, 0),
    "a key at the right window bound": partial(forms.at_the_bound, 1),
    "leading keys": FIRST.asked,
    "a leading key before the window": partial(forms.kept, 0),
    "a key after the leading ones": partial(forms.kept, 1),
    "a mask": MASK.asked,
    "a boolean mask": HOLDS[Capability.MASK],
    "an additive mask": HOLDS[Capability.BIAS],
    "an additive mask in float32 with arrays of 16 bits": MIXED.holds,
    "a mask per query": forms.axis(2),
    "a mask per head": forms.axis(3),
    "a mask per sequence": forms.axis(4),
    "a mask of more than two axes": lambda p: forms.axis(3)(p) or forms.axis(4)(p),
    "a padding mask": forms.of_padding,
    "a mask whose entries differ": lambda p: p.mask is not None and len(np.unique(p.mask)) > 1,
    "a mask broadcast along an inner axis": forms.broadcast_inside,
    "a mask that matters": forms.telling_mask,
    "a masked key": lambda p: not p.allowed.all(),
    "a fully masked query": lambda p: bool(p.idle.any()),
    "a query fully masked by booleans": lambda p: forms.idle(p, by=True),
    "a query fully masked by -inf": lambda p: forms.idle(p, by=False),
    "finite biases": lambda p: forms.added(p).size > 0,
    **{f"biases below {x}": forms.added_below(x) for x in LOW},
    "a soft-cap": CAP.asked,
    "scores beyond the soft-cap": forms.beyond_the_cap,
    "an attention sink": SINKS.asked,
    "attention sinks above 8": lambda p: p.sinks is not None and bool((p.sinks > 8).any()),
    "an attention sink above all scores": magnitudes.sink_above_all,
    "several scores": lambda p: p.M + (p.sinks is not None) > 1,
    "a query that sees only an attention sink": forms.sees_a_sink_alone,
    "ALiBi slopes": SLOPES.asked,
    "ALiBi slopes per sequence": HOLDS[Capability.SLOPES_EACH],
    # After what it consists of: of two features of the same problems, the first one is named.
    "biases of any kind": lambda p: p.slopes is not None or forms.added(p).size > 0,
    "positions": QUERY_POSITIONS.asked,
    "query positions": lambda p: p.query_positions is not None,
    "key positions": lambda p: p.key_positions is not None,
    "positions that differ from row numbers": forms.off_their_rows,
    "query positions that differ from row numbers": forms.queries_off_their_rows,
    "key positions that differ from row numbers": forms.keys_off_their_rows,
    "key positions with jumps": forms.keys_out_of_step,
    "query positions other than key positions": forms.places_apart,
    "positions beyond the last row": forms.beyond_the_rows,
    "positions out of order": forms.places_out_of_order,
    "negative positions": forms.below_zero,
    **{f"positions beyond {x}": forms.beyond(x) for x in FARTHER},
    "segments": QUERY_SEGMENTS.asked,
    "keys of another segment": forms.texts_apart,
    "segments out of order": forms.out_of_order,
    **{f"segments beyond {x}": forms.numbers_beyond(x) for x in FULL},
    **{f"segments {x + 1} apart": forms.alike_in(x + 1) for x in FULL},
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
    "paged keys": HOLDS[Capability.PAGES],
    "pages of several keys": lambda p: p.page > 1,
    "several pages": lambda p: 0 < p.page < p.M,
    "free space after the last key": lambda p: (
        not p.page or any(len(t.k) % p.page for t in texts.of(p))
    ),
    "packed padding tokens": HOLDS[Capability.SPARE],
    "new keys": HOLDS[Capability.ADDED],
    "several new keys": lambda p: texts.added(p) > 1,
    **{f"scores above {x}": partial(magnitudes.above, x) for x in ABOVE},
    **{f"scores below {x}": partial(magnitudes.below, float(x)) for x in BELOW},
    **{f"scores beyond {x}": partial(magnitudes.beyond, x) for x in (11, 50, 30000)},
    "scores out of the range of exp": magnitudes.out_of_exp,
    "scores 80 apart": magnitudes.apart,
    "scores of one query 80 apart": magnitudes.apart_in_a_row,
    "weights below 0.0001": magnitudes.small,
    "a negligible weight": magnitudes.next_to_nothing,
    "a masked key that scores highest": partial(magnitudes.ahead, 0),
    "a masked key that scores far above all visible ones": partial(
        magnitudes.ahead, magnitudes.FAR
    ),
    "a key that survives a penalty": magnitudes.unhidden,
    **{f"a key that survives a fill of {x}": partial(magnitudes.unfilled, float(x)) for x in FILLS},
    "a key that survives a fill of half the lowest number": partial(magnitudes.unfilled_by, 0.5),
    "a key that survives a fill of 0.7 of the lowest number": partial(magnitudes.unfilled_by, 0.7),
    "values that add up beyond 65504": partial(magnitudes.add_up, 65504),
    "a length above 16": lambda p: max(p.N, p.M) > 16,
    "an axis of length one": lambda p: 1 in (p.B, p.H, p.N, p.E),
    "a NaN": lambda p: bool(np.isnan(p.q).any() or np.isnan(p.k).any() or np.isnan(p.v).any()),
    "D is no power of 2": lambda p: bool(p.D & (p.D - 1)),
    **FORMATS,
}
PAIRS = (("N", "M"), ("D", "E"), ("B", "H"))
FREQUENT = (
    "an axis of length one",
    "a mask whose entries differ",
    "a mask that matters",
    "several scores",
    "a length above 16",
    "a negligible weight",  # what is masked has none
)
POSITIVE = (
    "a key at the left window bound",
    "a key at the right window bound",
    "an axis of length one",
    "several scores",
    "views",
    "strided memory",
    "expanded memory",
)
VOCABULARY = Vocabulary(WORDS, "BHGNMDE", PAIRS, FREQUENT, POSITIVE)
