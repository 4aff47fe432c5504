"""Section R, continued. ALiBi slopes are fixed powers of two, one for each head.

The slopes are powers of two with equal steps in the exponent, m_h = 2^(-8 h / H). So some
heads attend far back, and others hardly beyond the neighbouring keys. A head count that is
not a power of two has a different rule, and a single formula for all H is wrong:

    H = 2    1/16  1/256
    H = 3    1/16  1/256  1/4               those of 2, and the first of 4

The slopes are not trained, so they have no gradient. A caller may pass other slopes.
"""

import numpy as np

from spec.clause import clause
from spec.comparison import at_least, at_most, equal, same_bits
from spec.positions.alibi import definition, rounding
from spec.positions.alibi.definition import from_own_position, largest_power_of_two
from spec.positions.alibi.domain import Biases
from spec.positions.alibi.notation import LinearBias, Problem
from spec.positions.record import Capability


@clause(
    "R31",
    over=Biases(published=True, least=2),  # with two tokens, a bias depends on its slopes
    needs={Capability.SHOWN},
    catches={
        "takes_one_formula_for_all_heads",
        "counts_heads_from_zero",
        "rounds_heads_up",
        "takes_the_second_of_every_two",
        "sorts_the_slopes",
    },
)
def alibi_slopes_match_the_paper(bias: LinearBias, problem: Problem) -> None:
    """The default slopes are a geometric sequence; heads beyond the largest power of two, n, take
    every other slope of the sequence for 2 n heads.

        m_h = 2^(-8 h / n) for h = 1 ... n,    m_(n+g) = 2^(-4 (2 g - 1) / n) for g = 1 ... H - n

    Here H is the number of heads, and n the largest power of two that is at most H. Models are
    trained with the slopes in this order, so a sorted list is wrong.
    """
    m = bias.slopes(problem)

    want = definition.slopes(problem.in_reference())
    equal(m, want, within=rounding.of_slopes(problem))


@clause(
    "R32",
    over=Biases(published=True, least=2),  # with two tokens, a bias depends on its slopes
    needs={Capability.SHOWN},
    catches={"counts_heads_from_zero", "grows_with_the_heads"},
)
def alibi_slopes_lie_between_zero_and_one(bias: LinearBias, problem: Problem) -> None:
    """Every default slope lies between 1/256 and 1, and slopes decrease from head to head among the
    first n heads and among the others.

        1/256 <= m_h < 1,    m_(h+1) < m_h among the first n heads, and among the others

    Here n is the largest power of two that is at most the number of heads. With a slope of one, a
    key that is eight positions away has e^-8 of the weight of an equal key at no distance.
    """
    m = bias.slopes(problem)

    off = rounding.of_slopes(problem)
    n = largest_power_of_two(problem.H)
    at_least(m, 2.0**-8, within=off)
    at_most(m, 2.0 ** (-8 / (2 * n)), within=off)
    falls = np.concatenate([np.diff(m[:n]), np.diff(m[n:])])
    steps = np.concatenate([off[:n][1:] + off[:n][:-1], off[n:][1:] + off[n:][:-1]])
    at_most(falls, 0, within=steps)


@clause(
    "R33", over=Biases(asked=True), catches={"ignores_the_slopes", "takes_slopes_for_exponents"}
)
def alibi_bias_scales_with_the_given_slopes(bias: LinearBias, problem: Problem) -> None:
    """The bias uses the slopes that the caller passes: a slope of zero gives no bias, and
    doubling a slope doubles the bias.

        m = 0: b = 0,    b(2 m) = 2 b(m), to the bit

    Here b is the bias of past keys, relative to the query's own position. Multiplication by two is
    exact. If all slopes are zero, attention has no bias.
    """
    none = problem.but(asked=np.zeros(problem.H))
    assert problem.asked is not None
    twice = problem.but(asked=2 * problem.asked)

    b, flat, double = bias.bias(problem), bias.bias(none), bias.bias(twice)

    past = problem.past
    same_bits(np.where(past, from_own_position(flat, none), 0), np.zeros(flat.shape))
    seen, doubled = from_own_position(b, problem), from_own_position(double, twice)
    same_bits(np.where(past, doubled, 0), np.where(past, 2 * seen, 0))
    want = definition.bias(problem.in_reference())
    within = np.where(past, rounding.of_difference(problem, b), 0)
    equal(np.where(past, seen, 0), np.where(past, want, 0), within=within)
