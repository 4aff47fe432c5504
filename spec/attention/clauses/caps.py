"""Section U. Soft-capping bounds scores smoothly.

A soft-cap c is a smooth bound on the score of a query and a key, before anything is
added to it:

    s_ij = cap(t_ij) + b_ij,    cap(t) = c tanh(t / c),    t_ij = scale <q_i, k_j>

(logit soft-capping: Gemma Team 2024, section 2). The function is odd and increasing,
it is close to t near zero, and |cap(t)| < c. So no key loses its weight entirely:
weights differ by a factor of exp(2 c) at most.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.clauses.softmax import seen
from spec.attention.domain import BOOLEAN, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import any_cap
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import at_least, equal
from spec.formats import FORMATS, rounded

UNBIASED = (*PLAIN, *BOOLEAN)
STEEP = 64.0  # ratio of products to the soft-cap: tanh(64) is 1 in every format


def far(problem: Problem) -> Problem:
    """The problem with entries of at most one, and a soft-cap far larger than their products."""
    q, k = (np.clip(x, -1, 1) for x in (problem.q, problem.k))
    most = max(problem.sigma * problem.D, 1.0)
    return problem.but(q=q, k=k, softcap=most * 2.0 ** (FORMATS[problem.dtype].p // 2 + 1))


def alike(problem: Problem) -> Problem:
    """The problem with positive products that are all at least 64 times the soft-cap."""
    q, k = (rounded(1 + np.minimum(np.abs(x), 1), problem.dtype) for x in (problem.q, problem.k))
    least = problem.sigma * problem.D
    return problem.but(q=q, k=k, softcap=least / STEEP)


@clause(
    "U1",
    over=Problems(masks=UNBIASED, caps=True, families=("lattice", "normal", "ties")),
    catches={
        "has_a_cap_of_fifty",
        "caps_unasked",
        "forgets_to_multiply_by_the_cap",
        "forgets_to_divide_by_the_cap",
        "takes_the_tangent_of_exponentials",
    },
    effort=2,
)
def very_large_softcap_changes_nothing(attention: Implementation, problem: Problem) -> None:
    """A soft-cap that is far larger than every score changes nothing.

        o(c) = o(no soft-cap)    where |t|^3 / (3 c^2) is negligible for every t = scale <q_i, k_j>

    The difference of c tanh(t / c) and t is about |t|^3 / (3 c^2). A tanh that is computed as
    1 - 2 / (exp(2 t / c) + 1) has an absolute error of about u, the unit roundoff, however small
    the tanh is. Multiplied by c, that error is far larger than the rounding of a score.
    """
    wide, uncapped = far(problem), far(problem).but(softcap=None)
    apart = np.abs(rounding.reference(wide).o - rounding.reference(uncapped).o)

    o, p = attention.forward(wide), attention.forward(uncapped)

    equal(o, p, within=rounding.of_output(wide) + rounding.of_output(uncapped) + apart)


@clause(
    "U12",
    over=Problems(masks=UNBIASED, caps=True, families=("lattice", "normal", "heavy"), modest=True),
    catches={
        "clips_scores",
        "approximates_tanh_by_a_fraction",
        "caps_by_a_softsign",
        "rounds_tanh_to_bfloat16",
        "takes_a_rough_tangent",
        "caps_at_half",
        "forgets_to_multiply_by_the_cap",
        "forgets_to_divide_by_the_cap",
        "caps_magnitudes",
        "has_a_cap_of_fifty",
    },
    effort=4,
)
def softcap_is_a_hyperbolic_tangent(attention: Implementation, problem: Problem) -> None:
    """Scores are soft-capped by c tanh(t / c), and not by another function of similar shape.

        o_i = sum_j a_ij v_j,    s_ij = c tanh(t_ij / c) + b_ij,    t_ij = scale <q_i, k_j>

    Many functions rise from -c to c and have the slope 1 at zero, but a model needs the one
    that it was trained with.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "U2",
    over=Problems(
        slopes=False, sinks=False, masks=UNBIASED, caps=True, modest=True, scales=("default",)
    ),
    catches={
        "ignores_the_cap",
        "has_a_cap_of_fifty",
        "forgets_the_cap_beside_causality",
        "caps_from_above_alone",
    },
    effort=2,
)
def softcap_gives_every_key_a_minimum_weight(attention: Implementation, problem: Problem) -> None:
    """With a soft-cap c and no biases, the weights of two visible keys differ by at most a factor
    of exp(2 c), so every visible key has a minimum weight.

        a_ij >= exp(-2 c) / n_i    for each of the n_i keys visible to query i
    """
    small = problem.but(softcap=1.0)
    count = np.maximum(small.allowed.sum(axis=-1, keepdims=True), 1)

    a, within = seen(attention, small)

    at_least(a, np.where(small.allowed, np.exp(-2.0) / count, 0), within=within)


@clause(
    "U3",
    over=Problems(slopes=False, sinks=False, masks=UNBIASED, caps=True, scales=("default",)),
    catches={"ignores_the_cap", "forgets_the_cap_beside_a_mask", "forgets_the_cap_beside_a_window"},
    effort=2,
)
def saturated_softcap_gives_equal_weights(attention: Implementation, problem: Problem) -> None:
    """Without biases, all visible keys have equal weights if every score is far above the soft-cap.

        o_i = mean_j v_j    over the keys visible to query i, where all t_ij >= 64 c

    Here t_ij is a score before the soft-cap c. In every format tanh(64) rounds to 1, so each score
    becomes c, and the softmax of equal scores is uniform. A fully masked query returns zeros.
    """
    flat = alike(problem)
    weights = flat.allowed / np.maximum(flat.allowed.sum(axis=-1, keepdims=True), 1)

    o = attention.forward(flat)

    mean = weights @ definition.shared(flat.v, flat.H)
    equal(o, mean, within=rounding.of_output(flat))


@clause(
    "U4",
    over=Problems(
        segments=False,
        slopes=False,
        sinks=False,
        masks=PLAIN,
        causal=False,
        caps=True,
        least=(1, 1, 1, 2),
    ),
    catches={"caps_from_above_alone", "caps_magnitudes"},
    effort=2,
    proof=any_cap.a_cap_is_odd,
)
def softcap_is_odd(attention: Implementation, problem: Problem) -> None:
    """With two keys, negating the query exchanges their weights, because the soft-cap is odd.

        o(-q; k_1, k_2; v_1, v_2) = o(q; k_1, k_2; v_2, v_1)

    This holds without a soft-cap, and with one that bounds both signs alike.
    """
    two = moves.of_keys(problem, [0, 1])
    opposite, swapped = two.but(q=-two.q), two.but(v=two.v[:, :, ::-1])

    o, p = attention.forward(opposite), attention.forward(swapped)

    equal(o, p, within=rounding.of_output(opposite) + rounding.of_output(swapped))


@clause(
    "U11",
    over=Problems(masks=UNBIASED, caps=True, families=("lattice", "ties")),
    needs={Capability.SCALE},
    catches={"caps_before_it_scales"},
    effort=2,
)
def softcap_is_applied_after_the_scale(attention: Implementation, problem: Problem) -> None:
    """The soft-cap is applied to the scaled product, so a scale acts like a factor of the queries.

        o(q; scale = 1 / 2; c) = o(q / 2; scale = 1; c)

    If the soft-cap is applied to <q, k>, before the scale, the two outputs differ.
    """
    asked = problem.but(scale=0.5)
    halved = problem.but(q=rounded(problem.q / 2, problem.dtype), scale=1.0)

    o, p = attention.forward(asked), attention.forward(halved)

    equal(o, p, within=rounding.of_output(asked) + rounding.of_output(halved))
