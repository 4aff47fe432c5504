"""The definition of dropout on attention weights, given which weights are kept.

    w_ij = m_ij a_ij / (1 - p)      o_i = sum_j w_ij v_j

Here a are the attention weights, and m_ij is 1 with probability 1 - p and 0 with
probability p, independently of everything else (dropout: Srivastava et al. 2014). Weights
are divided by 1 - p in training, so that evaluation needs no correction. At p = 1 every
weight is dropped, and w = 0.

Only m is random. The definition is therefore a function of m, and `spec.dropout.chance`
covers the randomness. Let da_ij be the derivative by a weight a_ij, which is the derivative
by w_ij times m_ij / (1 - p). The rest is as in `spec.attention.definition`:

    da_ij = m_ij <dout_i, v_j> / (1 - p)       ds_ij = a_ij (da_ij - sum_j a_ij da_ij)
    dq_i  = scale sum_j ds_ij k_j              dk_j  = scale sum_i ds_ij q_i
    dv_j  = sum_i w_ij dout_i
"""

import numpy as np

from spec.attention import definition
from spec.attention.notation import Gradients
from spec.dropout.notation import Problem
from spec.notation import Array


def factors(problem: Problem, kept: Array) -> Array:
    """m_ij / (1 - p), or 0 everywhere at a rate of one.   (B, H, N, M)"""
    number = problem.q.dtype.type
    share = 1 - number(problem.rate)
    return np.where(kept, 1 / share, number(0)) if share else np.zeros(kept.shape, number)


def weights(problem: Problem, kept: Array) -> Array:
    """w_ij = m_ij a_ij / (1 - p).   (B, H, N, M)"""
    return factors(problem, kept) * definition.weights(problem.attention)


def attention(problem: Problem, kept: Array) -> Array:
    """o_i = sum_j w_ij v_j.   (B, H, N, E)"""
    return weights(problem, kept) @ problem.v


def gradients(problem: Problem, kept: Array) -> Gradients:
    """The derivatives of <dout, o> by q, k and v, for this mask."""
    a, m = definition.weights(problem.attention), factors(problem, kept)
    da = m * (problem.dout @ problem.v.swapaxes(-1, -2))
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True))
    sigma = definition.scale(problem.attention)
    return Gradients(
        q=sigma * (ds @ problem.k),
        k=sigma * (ds.swapaxes(-1, -2) @ problem.q),
        v=(m * a).swapaxes(-1, -2) @ problem.dout,
    )
