"""The definition of attention, which everything else in this repository is compared with.

    s_ij = cap(scale <q_i, k_j>) + b_ij, and -inf where key j is masked for query i
    a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij))
    o_i  = sum_j a_ij v_j

(Vaswani et al. 2017, section 3.2.1).

Soft-cap: cap(t) = c tanh(t / c) if a soft-cap c is given (Gemma Team 2024, section 2), else t. By
declared convention, the sum t + b is capped instead.
Bias: b_ij is the additive mask. ALiBi slopes m_h, if given, add -m_h |p_i - r_j|, where p_i and r_j
are the positions of query i and key j (Press, Smith and Lewis 2022, section 3). By declared
convention, they add -m_h (p_i - r_j).
Causality masks keys with r_j > p_i. Without given positions, positions are the row numbers.
Attention sink: t_h is a score without a value, one for each query head (OpenAI 2025, the model card
of gpt-oss). Without sinks, the term exp(t_h) is left out.
A fully masked query attends to nothing: its weights and its output are zero.
With fewer key heads than query heads (G < H), query head h reads key head h // (H / G) (Ainslie et
al. 2023, section 2.2).

The gradients are the closed form of reverse-mode differentiation. Write da_ij
for <dout_i, v_j>, the derivative with respect to a weight. Softmax has the Jacobian
diag(a) - a a^T. The log-sum-exp has the gradient a, and its cotangent is dlse_i (0 if
none is given). Hence

    ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i)
    dt_ij = ds_ij cap'(t_ij),    cap'(t) = 1 - tanh(t / c)^2, or 1
    dq_i  = scale sum_j dt_ij k_j
    dk_j  = scale sum_i dt_ij q_i
    dv_j  = sum_i a_ij dout_i
    dt_h  = sum_i exp(t_h - lse_i) (dlse_i - sum_j a_ij da_ij)
    dm_h  = -sum_ij ds_ij |p_i - r_j|

where dk and dv are also summed over the query heads that share a key head.

The precision is that of the arrays: float64 problems are evaluated in float64.
`Problem.wide` gives the same problem in NumPy's long double, which has more digits on some
platforms.
"""

import numpy as np

from spec.attention.notation import Gradients, Problem
from spec.notation import Array


def shared(x: Array, heads: int) -> Array:
    """Each key head repeated for every query head that reads it: (B, G, ...) to (B, H, ...)."""
    return x if x.shape[1] == heads else np.repeat(x, heads // x.shape[1], axis=1)


def gathered(x: Array, key_heads: int) -> Array:
    """The adjoint of `shared`: the sum over each group of heads, (B, H, ...) to (B, G, ...)."""
    group = x.shape[1] // key_heads
    return x.reshape(x.shape[0], key_heads, group, *x.shape[2:]).sum(axis=2)


def reduced(x: Array, shape: tuple[int, ...]) -> Array:
    """x summed over the axes along which an array of this shape was broadcast to the shape of x."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def scale(problem: Problem) -> np.floating:
    """The given scale; 1 / sqrt(D) if none is given."""
    number = problem.q.dtype.type
    return 1 / np.sqrt(number(problem.D)) if problem.scale is None else number(problem.scale)


def products(problem: Problem) -> Array:
    """t_ij = scale <q_i, k_j>.   (B, H, N, M)"""
    return scale(problem) * (problem.q @ shared(problem.k, problem.H).swapaxes(-1, -2))


def capped(t: Array, problem: Problem) -> Array:
    """cap(t) = c tanh(t / c); t if there is no soft-cap."""
    return t if problem.softcap is None else problem.softcap * np.tanh(t / problem.softcap)


def slope(t: Array, problem: Problem) -> Array | float:
    """cap'(t) = 1 - tanh(t / c)^2, the derivative of the soft-cap; 1 if there is none."""
    return 1.0 if problem.softcap is None else 1 - np.tanh(t / problem.softcap) ** 2


def entering(problem: Problem) -> Array:
    """The scores that are soft-capped: t_ij, or t_ij + b_ij if biases are too.   (B, H, N, M)"""
    return products(problem) + problem.bias if problem.caps_bias else products(problem)


def scores(problem: Problem) -> Array:
    """s_ij = cap(t_ij) + b_ij, or -inf where key j is masked for query i.   (B, H, N, M)"""
    s = capped(entering(problem), problem)
    s = s if problem.caps_bias or not problem.biased else s + problem.bias
    return np.where(problem.allowed, s, -np.inf)


def sinks(problem: Problem) -> Array | None:
    """t_h, shaped to broadcast against the scores; None if there are no sinks.   (H, 1, 1)"""
    return None if problem.sinks is None else problem.sinks[:, None, None]


def top(s: Array, t: Array | None = None) -> Array:
    """The largest score of each query or its sink; 0 if the query is fully masked.  (B, H, N, 1)"""
    largest = s.max(axis=-1, keepdims=True, initial=-np.inf)
    largest = largest if t is None else np.maximum(largest, t)
    return np.where(largest == -np.inf, 0, largest)


def powers(s: Array, m: Array, t: Array | None = None) -> tuple[Array, Array]:
    """exp(s_j - m), and their sum, which includes the sink.   (B, H, N, M) and (B, H, N, 1)"""
    e = np.exp(s - m)
    keys = e.sum(axis=-1, keepdims=True)
    return e, keys if t is None else keys + np.exp(t - m)


def softmax(s: Array, t: Array | None = None) -> Array:
    """exp(s_j) / (exp(t) + sum_j exp(s_j)) along the last axis; zero if all scores are -inf."""
    return normalised(*powers(s, top(s, t), t))


def normalised(e: Array, total: Array) -> Array:
    """e_j / total; zero if the total is zero.   (B, H, N, M)"""
    return e / np.where(total == 0, 1, total)


def weights(problem: Problem) -> Array:
    """a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    return softmax(scores(problem), sinks(problem))


def lse(problem: Problem) -> Array:
    """log (exp(t_h) + sum_j exp(s_ij)); -inf for a fully masked query.   (B, H, N)"""
    s, t = scores(problem), sinks(problem)
    m = top(s, t)
    return log_sum(m, powers(s, m, t)[1])


def log_sum(m: Array, total: Array) -> Array:
    """m + log(total); -inf if the total is zero.   (B, H, N)"""
    with np.errstate(divide="ignore"):
        return (m + np.log(total))[..., 0]


def attention(problem: Problem) -> Array:
    """o_i = sum_j a_ij v_j.   (B, H, N, E)"""
    return weights(problem) @ shared(problem.v, problem.H)


def through_softmax(a: Array, problem: Problem) -> Array:
    """ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i), da_ij = <dout_i, v_j>.   (B, H, N, M)"""
    da = problem.dout @ shared(problem.v, problem.H).swapaxes(-1, -2)
    da = da - (a * da).sum(axis=-1, keepdims=True)
    return a * (da if problem.dlse is None else da + problem.dlse[..., None])


def sink_gradients(a: Array, problem: Problem) -> Array | None:
    """dt_h = sum_i exp(t_h - lse_i) (dlse_i - <dout_i, o_i>); None without sinks.   (H,)"""
    if problem.sinks is None:
        return None
    share = np.exp(problem.sinks[:, None] - np.where(problem.idle, 0, lse(problem)))
    back = -(problem.dout * (a @ shared(problem.v, problem.H))).sum(axis=-1)
    back = back if problem.dlse is None else back + problem.dlse
    return (share * back).sum(axis=(0, 2))


def slope_gradients(db: Array, problem: Problem) -> Array | None:
    """dm_h = -sum_ij db_ij |p_i - r_j|; None without ALiBi slopes.   (H,) or (B, H)"""
    if problem.slopes is None:
        return None
    dm = -(db * problem.distance).sum(axis=(-2, -1))
    return dm if problem.slopes.ndim == 2 else dm.sum(axis=0)


def score_gradients(problem: Problem) -> Array:
    """The derivatives of the loss by the scores, ds_ij.   (B, H, N, M)"""
    return through_softmax(weights(problem), problem)


def gradients(problem: Problem) -> Gradients:
    """The derivatives of <dout, o> + <dlse, lse> by q, k, v, the bias, the sinks and the slopes."""
    return differentiated(weights(problem), problem)


def differentiated(a: Array, problem: Problem) -> Gradients:
    """The same derivatives, computed from the weights a."""
    ds = through_softmax(a, problem)
    dt = ds if problem.softcap is None else ds * slope(entering(problem), problem)
    db = dt if problem.caps_bias else ds
    return Gradients(
        q=scale(problem) * (dt @ shared(problem.k, problem.H)),
        k=gathered(scale(problem) * (dt.swapaxes(-1, -2) @ problem.q), problem.G),
        v=gathered(a.swapaxes(-1, -2) @ problem.dout, problem.G),
        bias=db,
        sinks=sink_gradients(a, problem),
        slopes=slope_gradients(db, problem),
    )
