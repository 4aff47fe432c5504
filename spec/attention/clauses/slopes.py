"""Section Y. ALiBi slopes lower a score in proportion to the distance of query and key.

Attention with linear biases (ALiBi: Press, Smith and Lewis 2022, section 3) uses no other encoding
of positions. A head with slope m_h adds to its scores, after any soft-cap and before masking,

    -m_h |p_i - j|    p_i the position of query i: i, or i + M - N with bottom-right alignment

so a larger slope gives a shorter reach. A slope may be zero or negative, and each batch element may
have its own slopes. The convention `slopes-ahead=signed` adds -m_h (p_i - j) instead, which is the
same under causality. A slope is equivalent to an additive mask (Y1). Most other clauses do not
write it out as a mask, because a mask in 16 bits has too few digits.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.clauses.softmax import seen
from spec.attention.domain import BOOLEAN, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import any_slope, exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal
from spec.notation import Array

USUAL = (0.5, 0.125, 1.0, 0.25)  # exact in every format; neighbours differ
STEEP = 1024.0
UNBIASED = (*PLAIN, *BOOLEAN)


def sloping(problem: Problem) -> Problem:
    """The problem with a slope for every head; neighbouring heads differ."""
    return problem.but(slopes=np.resize(USUAL, problem.H))


def level(problem: Problem) -> Problem:
    """The problem with zero queries, for which keys differ only in their positions."""
    return sloping(problem).but(q=np.zeros_like(problem.q))


@clause(
    "Y1",
    over=Problems(slopes=True),
    needs={Capability.BIAS, Capability.FUTURE},
    catches={
        "ignores_the_slopes",
        "rewards_distance",
        "rewards_keys_that_lie_ahead",
        "has_slopes_for_the_past_alone",
        "counts_places_from_the_end",
        "forgets_the_place_of_the_query",
        "measures_from_the_last_key",
        "squares_the_distance",
        "takes_the_next_key_for_none_away",
        "has_slopes_of_its_own",
        "scales_slopes_too",
        "takes_slopes_in_bits",
    },
    effort=2,
    proof=exactly.slopes_are_a_bias,
)
def alibi_slopes_equal_additive_mask(attention: Implementation, problem: Problem) -> None:
    """ALiBi slopes give the same output as an additive mask of minus slope times distance.

        o(slopes m; mask b) = o(mask b_ij - m_h |p_i - r_j|)

    Here p_i and r_j are positions of query i and key j; signed slopes have p_i - r_j instead of the
    distance. The mask is rounded to the format of the problem, and slopes are not. The error bound
    includes the effect of this rounding on the output.
    """
    written = moves.with_slopes_as_a_bias(problem)
    rounded = np.abs(rounding.reference(problem).o - rounding.reference(written).o)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written) + rounded)


@clause("Y2", over=Problems(slopes=True), catches={"has_slopes_of_its_own"})
def zero_slopes_equal_no_slopes(attention: Implementation, problem: Problem) -> None:
    """Slopes of zero give the same output as no slopes.

        o(m = 0) = o(no slopes)

    A slope of zero subtracts nothing from a score, at any distance.
    """
    flat, plain = problem.but(slopes=np.zeros(problem.H)), problem.but(slopes=None)

    o, p = attention.forward(flat), attention.forward(plain)

    equal(o, p, within=rounding.of_output(flat) + rounding.of_output(plain))


@clause(
    "Y4",
    over=Problems(slopes=True, least=(2, 1, 2, 2)),
    needs={Capability.SLOPES_EACH, Capability.SEVERAL},
    catches={"reads_the_slopes_of_the_first_sequence"},
)
def each_batch_element_has_its_own_slopes(attention: Implementation, problem: Problem) -> None:
    """With slopes of shape (B, H), each batch element uses its own row of slopes.

        o(x; m)_b = o(x_b; m_b)    x_b, m_b: the inputs and the row of slopes of batch element b

    Code that indexes slopes by the head alone uses the first row for all batch elements.
    """
    several = problem.but(slopes=np.resize(USUAL, (problem.H, problem.B)).T.copy())
    b = problem.chance().below(problem.B)
    assert several.slopes is not None
    alone = moves.of_batch(several, [b]).but(slopes=several.slopes[b])

    o, p = attention.forward(several), attention.forward(alone)

    within = rounding.of_output(several)[[b]] + rounding.of_output(alone)
    equal(p, o[[b]], within=within)


@clause(
    "Y5",
    over=Problems(slopes=True, masks=UNBIASED, modest=True, least=(1, 1, 1, 2)),
    catches={
        "ignores_the_slopes",
        "rewards_distance",
        "squares_the_distance",
        "takes_slopes_in_bits",
        "takes_the_next_key_for_none_away",
    },
    proof=any_slope.weights_fade_with_the_distance,
)
def weights_decay_exponentially_with_distance(attention: Implementation, problem: Problem) -> None:
    """If keys differ only in distance, each extra position multiplies a weight by the same factor.

        a_ij = a_il exp(-m_h (|p_i - r_j| - |p_i - r_l|))    where <q_i, k_j> = <q_i, k_l>

    Here m_h is the slope, |p_i - r_j| is the distance (p_i - r_j if slopes are signed), and j and l
    are visible keys, to whose scores only slopes are added, after any soft-cap. In the check all
    queries are zeros, so all products are equal. With v = I the output shows the weights. Slopes
    are in units of natural logarithms, not of bits.
    """
    alike = level(problem)
    s = definition.scores(alike.wide())
    nearest = np.argmax(s, axis=-1)[..., None]
    part = np.exp(s - definition.top(s))

    a, budget = seen(attention, alike)

    within = budget + np.take_along_axis(budget, nearest, -1) * part
    equal(a, np.take_along_axis(a, nearest, -1) * part, within=within)


@clause(
    "Y6",
    over=Problems(
        positions=False, slopes=True, masks=PLAIN, causal=False, square=True, least=(1, 1, 2, 2)
    ),
    catches={
        "rewards_keys_that_lie_ahead",
        "has_slopes_for_the_past_alone",
        "forgets_the_place_of_the_query",
        "measures_from_the_last_key",
    },
    proof=exactly.slopes_know_no_direction,
)
def slopes_depend_on_distance_not_direction(attention: Implementation, problem: Problem) -> None:
    """Slopes depend on distance, not direction: a reversed sequence gives the reversed output.

        o(x reversed; m)_i = o(x; m)_(N-1-i)    for N = M

    Here x are all inputs. Under the convention of signed slopes, the reversed sequence needs -m
    instead of m.
    """
    usual, backwards = sloping(problem), slice(None, None, -1)
    assert usual.slopes is not None
    mirrored = moves.of_keys(moves.of_queries(usual, backwards), backwards)
    mirrored = mirrored.but(slopes=-usual.slopes if usual.signed_slopes else usual.slopes)

    o, p = attention.forward(usual), attention.forward(mirrored)

    within = rounding.of_output(usual)[:, :, ::-1] + rounding.of_output(mirrored)
    equal(p, o[:, :, ::-1], within=within)


def nearest_values(problem: Problem) -> Array:
    """The value of the visible key at the least distance from each query.   (B, H, N, E)"""
    apart = np.where(problem.allowed, problem.distance, np.inf)
    chosen = np.argmin(apart, axis=-1)[..., None]
    return np.take_along_axis(definition.shared(problem.v, problem.H), chosen, axis=2)


@clause(
    "Y7",
    over=Problems(
        segments=False,
        positions=False,
        slopes=True,
        sinks=False,
        masks=PLAIN,
        square=True,
        modest=True,
        families=("lattice", "normal", "ties"),
    ),
    catches={
        "ignores_the_slopes",
        "rewards_distance",
        "takes_the_next_key_for_none_away",
        "forgets_the_place_of_the_query",
        "measures_from_the_last_key",
    },
)
def very_steep_slope_selects_the_nearest_key(attention: Implementation, problem: Problem) -> None:
    """With a slope far above all scores, each query returns the value at its own position.

        o_i = v_i    where m_h >= 1000 and all |scale <q_i, k_j>| are far smaller, for N = M

    Under the convention of signed slopes, a query returns the value of its last visible key. No
    slope is steep enough if the soft-cap bounds it too (`softcap=after-bias`).
    """
    steep = problem.but(slopes=np.full(problem.H, STEEP), scale=None, softcap=None)

    o = attention.forward(steep)

    equal(o, nearest_values(steep), within=rounding.of_output(steep))
