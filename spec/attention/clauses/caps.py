"""Section U. A cap is an upper bound of scores that bends them, and breaks none.

A cap c puts a smooth bound on what a query and a key may say of each other, before anything is
added to it:

    s_ij = cap(t_ij) + b_ij,    cap(t) = c tanh(t / c),    t_ij = scale <q_i, k_j>

(logit soft-capping: Gemma Team 2024, section 2). It is odd, it rises, it is t near zero, and
|cap(t)| < c. So no key is ever lost for good: weights differ by exp(2 c) at most.
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
STEEP = 64.0  # products over a cap: tanh(64) is 1 in every format


def far(problem: Problem) -> Problem:
    """The problem with entries of at most one, and a cap that is far beyond their products."""
    q, k = (np.clip(x, -1, 1) for x in (problem.q, problem.k))
    most = max(problem.sigma * problem.D, 1.0)
    return problem.but(q=q, k=k, softcap=most * 2.0 ** (FORMATS[problem.dtype].p // 2 + 1))


def alike(problem: Problem) -> Problem:
    """The problem with products all at the far end of a cap that is small beside them."""
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
def a_cap_far_beyond_all_scores_is_none(attention: Implementation, problem: Problem) -> None:
    """A cap that no score comes near changes nothing.

        o(c) = o(no cap)    where c is so large that |t|^3 / (3 c^2) is nothing beside any t

    For that is how far cap(t) is from t. A tangent of exponentials, 1 - 2 / (exp(2 t / c) + 1), is
    off by u of one and not of itself, and c times that is as large as scores are.
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
def a_cap_is_a_hyperbolic_tangent(attention: Implementation, problem: Problem) -> None:
    """Scores are bent by c tanh(t / c), and by nothing that looks like it.

        o_i = sum_j a_ij v_j,    a_ij = exp(cap(t_ij)) / sum_j exp(cap(t_ij))

    Many functions rise from -c to c and have the slope 1 at zero; a model was trained with one.
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
def a_cap_leaves_every_key_a_weight(attention: Implementation, problem: Problem) -> None:
    """Weights under a cap differ by the exponential of twice the cap at most.

    a_ij >= exp(-2 c) / n_i    for each of the n_i keys that query i sees
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
def beyond_a_cap_all_scores_are_alike(attention: Implementation, problem: Problem) -> None:
    """Where every score lies far beyond the cap, each key that is seen weighs the same.

        o_i = mean_j v_j    over the keys that query i sees, where all t_ij >= 64 c

    A query that sees no key returns zeros.
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
def a_cap_is_odd(attention: Implementation, problem: Problem) -> None:
    """Of two keys, what a query prefers the opposite query leaves, by as much.

        o(-q; k_1, k_2; v_1, v_2) = o(q; k_1, k_2; v_2, v_1)

    That is so without a cap, and stays so under one that bounds both signs alike.
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
def a_cap_knows_products_alone(attention: Implementation, problem: Problem) -> None:
    """Whether a scale is asked for or multiplied into the queries, a cap bounds the product.

        o(q; scale = 1 / 2; c) = o(q / 2; scale = 1; c)

    A cap that is put upon <q, k>, before the scale, tells them apart.
    """
    asked = problem.but(scale=0.5)
    halved = problem.but(q=rounded(problem.q / 2, problem.dtype), scale=1.0)

    o, p = attention.forward(asked), attention.forward(halved)

    equal(o, p, within=rounding.of_output(asked) + rounding.of_output(halved))
