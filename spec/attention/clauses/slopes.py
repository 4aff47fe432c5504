"""Section Y. Slopes take from a score with every place between a query and a key.

Attention with linear biases (ALiBi: Press, Smith and Lewis 2022, section 3) has no other word for
places. A head with the slope m_h adds to its scores, after a cap and before anything is hidden,

    -m_h |p_i - j|    p_i the place of query i: i, or i + M - N where it is the corner of the last

so that each head sees as far as its slope lets it. A slope may be zero, or negative, and every
sequence may have slopes of its own. Where it is declared so (`slopes ahead=signed`), -m_h (p_i - j)
is added, which under causality is the same. What a slope does, a bias does: it is written out here,
and nowhere else, as a mask in 16 bits has too few digits.
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
from spec.comparison import equal, same_bits
from spec.notation import Array

USUAL = (0.5, 0.125, 1.0, 0.25)  # exact in every format, and no two neighbours the same
STEEP = 1024.0
UNBIASED = (*PLAIN, *BOOLEAN)


def sloping(problem: Problem) -> Problem:
    """The problem with a slope for every head, each another than its neighbour's."""
    return problem.but(slopes=np.resize(USUAL, problem.H))


def level(problem: Problem) -> Problem:
    """The problem with queries of zero, for which all keys are alike but for their places."""
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
def a_slope_is_a_bias(attention: Implementation, problem: Problem) -> None:
    """Slopes add what a mask adds that holds the distances, each times its slope.

        o(slopes m; mask b) = o(mask b_ij - m_h |p_i - j|)

    A mask is rounded to the format, and slopes are not: by what the definition makes of that, the
    two may differ as well.
    """
    written = moves.with_slopes_as_a_bias(problem)
    rounded = np.abs(rounding.reference(problem).o - rounding.reference(written).o)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written) + rounded)


@clause("Y2", over=Problems(slopes=True), catches={"has_slopes_of_its_own"})
def slopes_of_zero_are_none(attention: Implementation, problem: Problem) -> None:
    """A slope of zero takes nothing.

    o(m = 0) = o(no slopes)
    """
    flat, plain = problem.but(slopes=np.zeros(problem.H)), problem.but(slopes=None)

    o, p = attention.forward(flat), attention.forward(plain)

    equal(o, p, within=rounding.of_output(flat) + rounding.of_output(plain))


@clause(
    "Y3",
    over=Problems(slopes=True, least=(1, 2, 2, 2)),
    needs={Capability.SEVERAL},
    catches={
        "shares_the_first_slope_among_heads",
        "reads_slopes_in_reverse",
        "reads_slopes_of_the_batch",
        "reads_slopes_as_if_heads_were_groups",
    },
)
def each_head_has_a_slope_of_its_own(attention: Implementation, problem: Problem) -> None:
    """The slope of one head is nothing to another one.

    o_h(m) = o_h(m')    to the bit, where m and m' differ for other heads alone
    """
    mine = problem.chance().below(problem.H)
    usual = sloping(problem)
    assert usual.slopes is not None
    others = np.arange(problem.H) != mine
    moved = usual.but(slopes=usual.slopes * (1 + others))

    o, p = attention.forward(usual), attention.forward(moved)

    same_bits(p[:, mine], o[:, mine])


@clause(
    "Y4",
    over=Problems(slopes=True, least=(2, 1, 2, 2)),
    needs={Capability.SLOPES_EACH, Capability.SEVERAL},
    catches={"reads_the_slopes_of_the_first_sequence"},
)
def each_sequence_has_slopes_of_its_own(attention: Implementation, problem: Problem) -> None:
    """Slopes (B, H) are those of one call for each sequence, with its own.

    o(m)_b = o(x_b; m_b)
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
def weights_fade_with_the_distance(attention: Implementation, problem: Problem) -> None:
    """Of keys that are alike, each place further away takes the same part of a weight.

        a_ij = a_il exp(-m_h (|p_i - j| - |p_i - l|))    where s_ij = s_il, with l the nearest key

    Seen through v = I, with queries of zero. This settles the unit that slopes are in.
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
def slopes_know_no_direction(attention: Implementation, problem: Problem) -> None:
    """Read backwards, a text is as far from itself as it was.

        o(x backwards; m)_i = o(x; m)_(N-1-i)    for N = M

    Signed slopes turn round with the text: -m takes the place of m.
    """
    usual, backwards = sloping(problem), slice(None, None, -1)
    assert usual.slopes is not None
    mirrored = moves.of_keys(moves.of_queries(usual, backwards), backwards)
    mirrored = mirrored.but(slopes=-usual.slopes if usual.signed_slopes else usual.slopes)

    o, p = attention.forward(usual), attention.forward(mirrored)

    within = rounding.of_output(usual)[:, :, ::-1] + rounding.of_output(mirrored)
    equal(p, o[:, :, ::-1], within=within)


def nearest_values(problem: Problem) -> Array:
    """The value of the key that each query sees at the least distance.   (B, H, N, E)"""
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
def the_steepest_slope_leaves_the_nearest_key(attention: Implementation, problem: Problem) -> None:
    """A slope that is steep beside all scores leaves every query the key at its own place.

        o_i = v_i    where m_h >= 1000 and more, for N = M

    Signed slopes leave it the last key that it sees.
    """
    steep = problem.but(slopes=np.full(problem.H, STEEP), scale=None, softcap=None)

    o = attention.forward(steep)

    equal(o, nearest_values(steep), within=rounding.of_output(steep))
