"""Section D, continued. The mean of the output is attention, and its variance is known.

With w_ij = m_ij a_ij / (1 - p) and independent m, over all masks

    E o_i   = sum_j a_ij v_j                          the factor 1 / (1 - p) ensures this
    Var o_i = p / (1 - p) sum_j a_ij^2 v_j^2          per column

The mean does not depend on whether weights are dropped independently of each other. The
variance does: it is a sum of variances over keys only if the drops of two keys are
uncorrelated. Both are averages of bounded, independent numbers, and `chance` bounds them
for any number of calls.

Values are positive here, so that no cancellation makes the mean or the variance small.
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
    """The same problem with values of at least 1."""
    return problem.but(v=rounded(1 + np.abs(problem.v) / 4, problem.dtype))


def first_column(network: Dropout, problem: Problem) -> Array:
    """The first column of the output of every call.   (calls, B, H, N)

    All columns share one mask, so another column would add no information.
    """
    return np.stack([network.forward(each)[..., 0] for each in repeated(problem)])


def contributions(problem: Problem) -> Array:
    """c_ij = a_ij v_j / (1 - p), the contribution of a kept weight.   (B, H, N, M)"""
    a = rounding.reference(problem.attention).weights.astype(np.float64)
    v: Array = problem.v[..., 0]
    return a * v[..., None, :] / (1 - problem.p)


@clause(
    "D23",
    over=CROWDS,
    catches={"forgets_to_scale", "multiplies_by_the_rate", "keeps_with_the_rate"},
    proof=proofs.the_mean_is_attention,
)
def mean_dropout_output_equals_attention(network: Dropout, problem: Problem) -> None:
    """Averaged over masks, the output with dropout is the output of plain attention.

        E o_i = sum_j a_ij v_j    for p < 1

    Here E is the mean over all masks. Each weight is kept with probability 1 - p and then divided
    by 1 - p, with p the dropout rate, so its mean does not change. Later layers therefore receive
    inputs with the same mean in training and in evaluation.
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
def dropout_output_variance_matches_independent_drops(network: Dropout, problem: Problem) -> None:
    """The mean squared deviation of the output from attention equals the variance for
    independently dropped weights.

        Var o_i = p / (1 - p) sum_j a_ij^2 v_j^2    for each column; p < 1 is the dropout rate

    If weights are dropped together, their deviations add up before they are squared. The mean is
    taken over queries, heads, batch elements and calls, which are all independent, and equality
    holds up to a bound on random deviations.
    """
    problem = positive(problem)
    wanted = rounding.reference(problem.attention).o[..., 0]

    got = ((first_column(network, problem) - wanted) ** 2).mean()

    terms = contributions(problem)
    variance, off = chance.of_squares(terms, problem.p, calls(problem))
    error = of_any_output(problem).max()
    furthest = float(np.abs(terms).sum(axis=-1).max()) + error
    equal(np.asanyarray(got), variance, within=off + 2 * furthest * error)
