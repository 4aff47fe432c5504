"""The options of an attention problem, a row for each: its names, a test and small problems.

    Parameter   an argument in addition to q, k and v: its names, and plainer values of it
    Option      a kind of problem that may be unsupported: a test, and small problems of it
    PAIRS       parameters that many functions support alone, and not together

These rows determine how functions are called, what they are probed with before any test, what they
may leave out, how a problem is simplified and how the known bugs are called. `contents` and
`definition` say what an option *means*, `rounding` says how it affects error bounds, and `asking`
draws it.
"""

from collections.abc import Iterator
from enum import StrEnum
from itertools import combinations

import numpy as np

from spec.attention import small, texts
from spec.attention.notation import Problem
from spec.attention.parameter import OWN, UNITS, Option, Parameter, bounded, mates, or_zero
from spec.notation import HALF
from spec.subject import Backward


class Capability(StrEnum):
    """The capabilities that a clause may need beyond the forward pass in the basic case.

    Capabilities are words that a certificate prints. Each chapter has its own; the same words mean
    the same in two chapters.
    """

    GRADIENTS = Backward.GRADIENTS
    BIAS_GRADIENT = Backward.BIAS_GRADIENT
    SINK_GRADIENT = "has a gradient of the attention sinks"
    SLOPE_GRADIENT = "has a gradient of the ALiBi slopes"
    LSE_GRADIENT = "has gradients through the log-sum-exp"
    PARTIAL_GRADIENTS = Backward.PARTIAL_GRADIENTS
    WEIGHTS = "returns the weights"
    LSE = "returns the log-sum-exp"
    TRAINING = Backward.TRAINING
    CALL = "can be watched as a caller sees it"

    MASK = "takes a boolean mask"
    BIAS = "takes an additive mask"
    CAUSAL = "takes causal"
    WINDOW = "takes a window"
    FIRST = "takes leading keys"
    CAP = "takes a soft-cap"
    SINKS = "takes attention sinks"
    SLOPES = "takes ALiBi slopes"
    SLOPES_EACH = "takes ALiBi slopes per sequence"
    POSITIONED = "takes positions"
    POSITIONED_ALONE = "takes positions of queries or of keys alone"
    SEGMENTS = "takes segments"
    LABELS = "takes segments of several sequences"
    OTHERS = "takes key segments that differ from query segments"
    SCALE = "takes a scale"
    GROUPS = "takes fewer key heads than query heads"
    WIDTHS = "takes values of a width other than that of keys"
    WIDTHS_BESIDE = "takes values of another width with a mask and causal together"
    EMPTY = "takes sizes of zero"
    STRIDES = "takes arrays whose rows have gaps"
    PAGES = "takes paged keys"
    ADDED = "takes new keys in addition to a cache"
    SPARE = "takes packed padding tokens"
    LENGTHS = "takes queries and keys of different lengths"
    MIXED = "takes an additive mask in float32 with arrays of 16 bits"
    FORMS = "takes masks of other shapes than (B, 1, 1, M)"
    FUTURE = "can attend to future keys"
    BATCHES = "takes several sequences"
    SEVERAL = "takes several sequences or heads"
    QUERIES = "takes more than one query"


MASK = Parameter(
    "mask",
    "a mask",
    ("attn_mask", "mask", "attention_mask", *OWN),
    own=OWN,
    added=("bias", "attn_bias"),
)
CAUSAL = Parameter("causal", "causal", ("is_causal", "causal"))
SCALES = ("scale", "softmax_scale", "sm_scale", "scaling")
SCALE = Parameter("scale", "a scale", SCALES, plainer=(1.0,))
WINDOW = Parameter(
    "window", "a window", ("window_size", *UNITS), ((0, 0), (1, 0)), put=bounded, own=UNITS
)
FIRST = Parameter("first", "leading keys", ("sink_size", "num_sink_tokens"), (1, 2, 3))
CAP = Parameter(
    "softcap",
    "a soft-cap",
    ("softcap", "logits_soft_cap", "logit_cap"),
    plainer=(1.0,),
    put=or_zero,
)
SINKS = Parameter("sinks", "attention sinks", ("sinks", "s_aux", "learnable_sink"), single=True)
SLOPES = Parameter("slopes", "ALiBi slopes", ("alibi_slopes", "slopes"), single=True)
QUERY_SEGMENTS, KEY_SEGMENTS = mates(
    "segments", ("query_segments", "q_segment_ids"), ("key_segments", "kv_segment_ids"), *texts.TOLD
)
QUERY_POSITIONS, KEY_POSITIONS = mates(
    "positions",
    ("query_positions", "position_ids", "q_positions"),
    ("key_positions", "kv_positions"),
)
# Pairs contain the first of two mates.
POSITIONS, SEGMENTS = (QUERY_POSITIONS, KEY_POSITIONS), (QUERY_SEGMENTS, KEY_SEGMENTS)
GROUPED = Parameter("grouped", "groups", ("enable_gqa",), told=True)

OF_TOKENS = (*POSITIONS, *SEGMENTS)
# In the order in which they are passed; those of torch come first.
PARAMETERS = (MASK, CAUSAL, SCALE, GROUPED, WINDOW, FIRST, CAP, SINKS, SLOPES, *OF_TOKENS)
ARRAYS = tuple(parameter for parameter in PARAMETERS if parameter.axes)
PLACED = (MASK, CAUSAL, WINDOW)
OF_SCORES = (CAP, SINKS, SLOPES)
BESIDE = ((x, y) for y in OF_SCORES for x in PLACED)
OF_TEXT = ((x, QUERY_SEGMENTS) for x in (*PLACED, *OF_SCORES))
OF_PLACE = ((x, QUERY_POSITIONS) for x in (*PLACED, *OF_SCORES, QUERY_SEGMENTS))
ALIKE = (*combinations(PLACED, 2), *BESIDE, *combinations(OF_SCORES, 2))
BEFORE, BEHIND = (MASK, CAUSAL), (*OF_SCORES, QUERY_SEGMENTS, QUERY_POSITIONS)
OF_FIRST = (*((x, FIRST) for x in BEFORE), *((FIRST, x) for x in BEHIND))  # in the order of drawing
PAIRS = (*ALIKE, *OF_FIRST, *OF_TEXT, *OF_PLACE)  # often unsupported

SIZES = frozenset("BHGNMDE")

SINGLE = (
    Option(
        Capability.MASK,
        lambda p: p.mask is not None and p.mask.dtype == bool,
        (small.OF_KEYS[0], *small.BOOLEAN[:2]),
        (MASK,),
    ),
    Option(
        Capability.BIAS,
        lambda p: p.mask is not None and p.mask.dtype != bool,
        (small.OF_KEYS[1], *small.ADDITIVE),
        (MASK,),
    ),
    Option(
        Capability.CAUSAL, CAUSAL.asked, ({"causal": True}, {"M": 5, "causal": True}), (CAUSAL,)
    ),
    Option(Capability.SCALE, SCALE.asked, ({"scale": 0.5},), (SCALE,)),
    Option(Capability.GROUPS, GROUPED.asked, ({"H": 6, "G": 2},), (GROUPED,)),
    Option(Capability.WINDOW, WINDOW.asked, small.WINDOWS, (WINDOW,)),
    Option(
        Capability.FIRST,
        FIRST.asked,
        ({"window": (1, 0), "first": 1}, {"M": 5, "window": (0, 1), "first": 2}),
        (FIRST,),
    ),
    Option(Capability.CAP, CAP.asked, ({"softcap": 0.5}, {"softcap": 4.0}), (CAP,)),
    Option(Capability.SINKS, SINKS.asked, ({"sinks": np.array([0.5, -1.0, 2.0])},), (SINKS,)),
    Option(Capability.SLOPES, SLOPES.asked, small.SLOPES, (SLOPES,)),
    Option(Capability.SLOPES_EACH, lambda p: "slopes" in p.having("B"), small.STEEP, (SLOPES,)),
    Option(Capability.SEGMENTS, QUERY_SEGMENTS.asked, (small.OF_ONE_TEXT,), SEGMENTS),
    Option(Capability.LABELS, texts.several, (small.ALIKE_TEXTS,), SEGMENTS),
    Option(Capability.OTHERS, texts.apart, (small.UNLIKE,), SEGMENTS),
    Option(Capability.POSITIONED, QUERY_POSITIONS.asked, small.PLACES[:1], POSITIONS),
    Option(
        Capability.POSITIONED_ALONE,
        lambda p: (p.query_positions is None) != (p.key_positions is None),
        small.PLACES[1:],
        POSITIONS,
    ),
    Option(Capability.WIDTHS, lambda p: p.E != p.D, ({"E": 3},)),
    Option(
        Capability.EMPTY,
        lambda p: 0 in (p.B, p.H, p.N, p.M, p.D, p.E),
        ({"N": 0}, {"M": 0}, {"B": 0}, {"D": 0}, {"D": 0, "N": 0}),
    ),
    Option(Capability.STRIDES, lambda p: p.memory == "strided", ({"memory": "strided"},)),
    Option(Capability.PAGES, lambda p: p.page > 0, ({"page": 3},)),
    Option(Capability.SPARE, lambda p: p.spare > 0, ({"spare": 2},)),
    Option(Capability.ADDED, lambda p: texts.added(p) > 0, ({"added": 2},)),
    Option(Capability.LENGTHS, lambda p: p.N != p.M, ({"M": 5},)),
    Option(
        Capability.FORMS,
        lambda p: p.mask is not None and p.mask.shape != (p.B, 1, 1, p.M),
        (*small.BOOLEAN, *small.ADDITIVE),
        (MASK,),
    ),
    Option(Capability.FUTURE, lambda p: not p.causal, ()),
    Option(Capability.BATCHES, lambda p: p.B > 1, ()),
    Option(Capability.SEVERAL, lambda p: p.B > 1 or p.H > 1, ()),
    Option(Capability.QUERIES, lambda p: p.N > 1, ()),
)


def together(one: Parameter, other: Parameter) -> str:
    """The capability of supporting both at once."""
    return f"takes {one.noun} and {other.noun} together"


def _pair(one: Parameter, other: Parameter) -> Option:
    """The option of using both; its small problems combine those of each, at the usual sizes."""
    asking = [[o for o in SINGLE if p in o.parameters] for p in (one, other)]
    tried = [{id(x): x for o in options for x in o.small}.values() for options in asking]
    small = ({**x, **y} for x in tried[0] for y in tried[1] if not SIZES & {*x, *y})
    said = {p.name: p for options in asking for o in options for p in o.parameters}
    return Option(
        together(one, other),
        lambda p: one.asked(p) and other.asked(p),
        tuple(small),
        tuple(said.values()),
    )


def _with_pairs() -> Iterator[Option]:
    """Every row; each pair follows the row of its second parameter."""
    for option in SINGLE:
        yield option
        yield from (_pair(*pair) for pair in PAIRS if pair[1] in option.parameters)


# A kernel for a mask together with causality may support one width only, with no fallback.
THREE = Option(
    Capability.WIDTHS_BESIDE,
    lambda p: p.E != p.D and MASK.asked(p) and p.causal,
    tuple({"E": 3, "causal": True, **x} for x in small.MASKS),
    (MASK, CAUSAL),
)
# Where others have 16 bits; a call in mixed precision has one, as sums of biases are in float32.
MIXED = Option(
    Capability.MIXED,
    lambda p: p.dtype in HALF and p.mask is not None and p.mask.dtype == np.float32,
    tuple({"mask": x["mask"].astype(np.float32)} for x in (small.OF_KEYS[1], *small.ADDITIVE)),
    (MASK,),
)
OPTIONS = (*_with_pairs(), THREE, MIXED)
KINDS: frozenset[str] = frozenset(option.capability for option in OPTIONS)


def kinds_of(problem: Problem) -> frozenset[str]:
    """The kinds of problem that `problem` belongs to; empty in the basic case."""
    alone = [option.capability for option in (*SINGLE, THREE, MIXED) if option.holds(problem)]
    asked = {x for x in PARAMETERS if x.asked(problem)}
    return frozenset((*alone, *(together(*pair) for pair in PAIRS if asked.issuperset(pair))))
