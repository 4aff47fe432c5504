"""The error from cutting keys into parts, each of which is normalised before they are merged.

    o = sum_n w_n o_n,    w_n = exp(l_n - l),    l = log sum_n exp(l_n)

as who has keys in pages, on several cores or in several machines merges what comes of each. A
log-sum-exp l_n is rounded, and a weight loses u |l_n| of itself; a quotient by the sum of all
exponentials never does. It is granted only if it is declared (`parts=merged`), because a
term of 10^-5 that somebody adds to a sum does as much, in float32.

Exponents. In one merge, of a state n into l, key j of that state meets

    u (T + C_LOG log M)                      l_n, as it is stored: T_ij = |m_i| + gap_ij + log M
    u (2 C_BITS T + gap + log M)             the difference l_n - l in bits, and in none
    u (C_EXP + C_DIV + 1)                    the exponential, the sum, a product with one over it
    u (T + 2 C_BITS T + C_LOG log M)         l, there and back again, as it is stored
    u [(1 + 2 C_BITS) (T + log M) + (C_LOG + 1) log M + C_EXP + 1]
                                             the sum under its logarithm, a mean of the first three

T bounds l_n and l, which lie between s_ij and lse_i <= m_i + log M; and of the last line, as the
mean of l - l_n is no more than the entropy of the parts. MERGES times, that is lost_ij, which y
gains. It does not cancel where no sum is divided by, so phi gains its mean

    unequal_i = sum_j a_ij (exp(lost_ij) - 1)

and so does the hull, up to a half: an l that forgets log 2 gives back one and the same value twice,
and that is wrong, however large l may be.

Products. o_n and do_n are multiplied by w_n in each merge. As o - w_n (o - o_n), with a sigmoid for
w_n, an output loses C_LERP u |o - o_n| as well, whatever the weights: 2 max_j |v_jc| at most, so

    theta_ic gains 2 MERGES C_LERP u max_j |v_jc|

That is not granted to gradients, which who merges so takes from weights exp(s - l) of the whole.

Gradients. The gradients of state n are do_n = w_n do, dlse_n = w_n (<do, o_n - o> + dlse), and

    ds_ij = a_ij (<do, v_j> - <do, o_n> + <do, o_n - o> + dlse)

whose terms in o_n cancel, but for their roundings: two products of E terms in each merge, a sum of
up to M in the part, and whatever is multiplied by w_n, subtracted or added on the way. Each is at
most V_i = sum_c |do_ic| max_j |v_jc| or twice that, 12 V in a merge, so that

    zeta_ij gains u [ MERGES (2 E + 12) + M ] V_i + 3 u MERGES |dlse|

Measured (tests/attention/test_rounding_merged.py, 47 problems in either format, six ways to merge):
0.03 of a budget at most, as no computation does all of this in every merge. Of 429 mistakes that
declare their parts to be merged one is not refused in float32, that term of 10^-5.
"""

import numpy as np

from spec.attention.notation import Problem
from spec.attention.rounding import sums
from spec.attention.rounding.arithmetic import C_DIV, C_EXP, C_LOG, Arithmetic
from spec.notation import Array

MERGES = 4.0  # of a state: sixteen parts two by two, five one by one, any number at once
C_LERP = C_EXP + C_DIV + 2.0  # a sigmoid, the difference of two outputs, the product
BEYOND = 2.0**10  # an exponent that is off by so much says nothing
C_BITS = 2.0  # a number times log2 e: the product, and log2 e; as much on the way back


def of_exponents(problem: Problem, m: Array, gap: Array, u: float) -> Array | float:
    """The part of y from merging parts.   (B, H, N, M), or 0 where nothing is merged

    m: (B, H, N, 1), the largest score of a row. gap: (B, H, N, M), how far each lies below.
    """
    if not problem.merged:
        return 0.0
    log_M = float(np.log(max(problem.M, 1)))
    T, bits = np.abs(m) + gap + log_M, 1 + 2 * C_BITS
    once = 3 * bits * T + gap + bits * log_M + (3 * C_LOG + 2) * log_M + 2 * C_EXP + C_DIV + 2
    return np.asarray(MERGES * u * np.minimum(once, BEYOND / u))


def of_products(problem: Problem) -> float:
    """How many more products an output meets, or the cotangent of one."""
    return MERGES * problem.merged


def of_outputs(largest: Array, u: float) -> Array:
    """The part of theta from merging parts.   (B, H, N, E)

    largest: (B, H, N, E), max_j |v_jc| over the keys that a query sees.
    """
    return np.asarray(2 * MERGES * C_LERP * u * largest)


def of_differences(
    g: Array, largest: Array, dlse: Array | float, keys: int, rules: Arithmetic
) -> Array:
    """The part of zeta from merging parts.   (B, H, N, 1)

    g: (B, H, N, E), |do|. largest: as above. dlse: (B, H, N, 1), its size. keys: M.
    """
    E, u = g.shape[-1], rules.u
    unit, count = u * sums.growth(keys + E, u), MERGES * (2 * E + 12) + keys
    V = (g * largest).sum(axis=-1, keepdims=True)
    return np.asarray(unit * (count * V + 3 * MERGES * dlse) + 2 * count * rules.w)
