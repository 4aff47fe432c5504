"""Section D, continued. The mean of the output is attention, and its variance is known.

With w_ij = m_ij a_ij / (1 - p) and independent m, over all masks

    E o_i   = sum_j a_ij v_j                          that is what 1 / (1 - p) is for
    Var o_i = p / (1 - p) sum_j a_ij^2 v_j^2          per column

The mean tells nothing of how dropping one weight goes with dropping another; the variance
does, as it is the sum over keys of variances only if no two keys are dropped together. Both
are averages of bounded, independent numbers: `chance` bounds them for any number of calls.

Values are taken positive here, so that neither mean nor variance is small by cancelling.
"""

import numpy as np

from spec.attention import rounding
from spec.clause import clause
from spec.comparison import equal
from spec.dropout import chance, proofs
from spec.dropout.domain import CROWDS
from spec.dropout.notation import Dropout, Problem
from spec.dropout.reading import calls, repeated
from spec.dropout.rounding import of_any_output
from spec.formats import rounded
from spec.notation import Array


def positive(problem: Problem) -> Problem:
    """The same problem with values of 1 and more."""
    return problem.but(v=rounded(1 + np.abs(problem.v) / 4, problem.dtype))


def first_column(network: Dropout, problem: Problem) -> Array:
    """The first column of the output, call after call.   (calls, B, H, N)

    Columns share their mask, so that another one would teach nothing new.
    """
    return np.stack([network.forward(each)[..., 0] for each in repeated(problem)])


def contributions(problem: Problem) -> Array:
    """c_ij = a_ij v_j / (1 - p), what a kept weight adds.   (B, H, N, M)"""
    a = rounding.reference(problem.attention).weights.astype(np.float64)
    v: Array = problem.v[..., 0]
    return a * v[..., None, :] / (1 - problem.p)


@clause(
    "D23",
    over=CROWDS,
    catches={"forgets_to_scale", "multiplies_by_the_rate", "keeps_with_the_rate"},
    proof=proofs.the_mean_is_attention,
)
def the_mean_of_the_output_is_attention(network: Dropout, problem: Problem) -> None:
    """Averaged over masks, the output is that of attention.

        E o_i = sum_j a_ij v_j

    So a model that was trained with dropout meets inputs of the size it knows in evaluation.
    """
    problem = positive(problem)

    mean = first_column(network, problem).mean(axis=0)

    off = chance.of_mean(contributions(problem), problem.p, calls(problem))
    wanted = rounding.reference(problem.attention).o[..., 0]
    equal(mean, wanted, within=off + of_any_output(problem)[..., 0])


@clause(
    "D24",
    over=CROWDS,
    catches={"drops_whole_queries", "drops_the_output", "never_drops", "normalises_again"},
    proof=proofs.the_variance_is_that_of_single_weights,
)
def the_variance_of_the_output_is_that_of_dropped_weights(
    network: Dropout, problem: Problem
) -> None:
    """The squared deviation of the output is, on average, that of weights dropped one by one.

        Var o_i = p / (1 - p) sum_j a_ij^2 v_j^2

    Dropped together, they would add up before they are squared. The average goes over queries,
    heads, batch elements and calls, which are all independent.
    """
    problem = positive(problem)
    wanted = rounding.reference(problem.attention).o[..., 0]

    got = ((first_column(network, problem) - wanted) ** 2).mean()

    terms = contributions(problem)
    variance, off = chance.of_squares(terms, problem.p, calls(problem))
    error = of_any_output(problem).max()
    furthest = float(np.abs(terms).sum(axis=-1).max()) + error
    equal(np.asanyarray(got), variance, within=off + 2 * furthest * error)
