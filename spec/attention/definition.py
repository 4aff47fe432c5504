"""What attention is. Everything else in this repository is measured against it.

    s_ij = cap(scale <q_i, k_j>) + b_ij, and -inf where j is forbidden to i
    a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij))
    o_i  = sum_j a_ij v_j

(Vaswani et al. 2017, section 3.2.1), where cap(t) = c tanh(t / c) if a cap c is asked for
(Gemma Team 2024, section 2), and t if not; or where it is declared so, the sum t + b is capped.
What is added is what a mask adds, and if slopes m_h are asked for, -m_h |p_i - r_j|, where p_i and
r_j are the places of query i and key j (Press, Smith and Lewis 2022, section 3); where it is
declared so, -m_h (p_i - r_j). Causality hides r_j > p_i, and places are the rows if none are given.
A sink t_h is a score that has no value, one for each query head (OpenAI 2025, the model card of
gpt-oss); where none is asked for, exp(t_h) is not there.
An idle query, from which every key is hidden, attends to nothing: its weights and its output are
zero. With fewer key heads than query heads (G < H), head h reads key head h // (H / G) (Ainslie et
al. 2023, section 2.2).

The gradients are the closed form of reverse-mode differentiation. Write da_ij
for <dout_i, v_j>, the derivative by a weight. Softmax has the Jacobian
diag(a) - a a^T, and the log-sum-exp, whose cotangent is dlse_i if it has one, the gradient a, so

    ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i)
    dt_ij = ds_ij cap'(t_ij),    cap'(t) = 1 - tanh(t / c)^2, or 1
    dq_i  = scale sum_j dt_ij k_j
    dk_j  = scale sum_i dt_ij q_i
    dv_j  = sum_i a_ij dout_i
    dt_h  = sum_i exp(t_h - lse_i) (dlse_i - sum_j a_ij da_ij)
    dm_h  = -sum_ij ds_ij |p_i - r_j|

where dk and dv also add over the query heads that share a key head.

Precision follows the arrays: float64 problems are evaluated in float64, and
`wide` asks for more digits where NumPy's long double has them.
"""

import numpy as np

from spec.attention.notation import Gradients, Problem
from spec.notation import Array


def shared(x: Array, heads: int) -> Array:
    """Each key head once for every query head that reads it: (B, G, ...) to (B, H, ...)."""
    return x if x.shape[1] == heads else np.repeat(x, heads // x.shape[1], axis=1)


def gathered(x: Array, key_heads: int) -> Array:
    """The adjoint of `shared`: the sum over each group of heads, (B, H, ...) to (B, G, ...)."""
    group = x.shape[1] // key_heads
    return x.reshape(x.shape[0], key_heads, group, *x.shape[2:]).sum(axis=2)


def reduced(x: Array, shape: tuple[int, ...]) -> Array:
    """The sum of x over the axes along which an array of this shape was broadcast to it."""
    x = x.sum(axis=tuple(range(x.ndim - len(shape))))
    return x.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True)


def scale(problem: Problem) -> np.floating:
    """1 / sqrt(D) unless another one is asked for."""
    number = problem.q.dtype.type
    return 1 / np.sqrt(number(problem.D)) if problem.scale is None else number(problem.scale)


def products(problem: Problem) -> Array:
    """t_ij = scale <q_i, k_j>.   (B, H, N, M)"""
    return scale(problem) * (problem.q @ shared(problem.k, problem.H).swapaxes(-1, -2))


def capped(t: Array, problem: Problem) -> Array:
    """cap(t) = c tanh(t / c), and t where no cap c is asked for."""
    return t if problem.softcap is None else problem.softcap * np.tanh(t / problem.softcap)


def slope(t: Array, problem: Problem) -> Array | float:
    """cap'(t) = 1 - tanh(t / c)^2, and 1 where no cap c is asked for."""
    return 1.0 if problem.softcap is None else 1 - np.tanh(t / problem.softcap) ** 2


def entering(problem: Problem) -> Array:
    """What enters the cap: t_ij, or t_ij + b_ij where a bias is capped as well.   (B, H, N, M)"""
    return products(problem) + problem.bias if problem.caps_bias else products(problem)


def scores(problem: Problem) -> Array:
    """s_ij = cap(t_ij) + b_ij, or -inf where j is forbidden to i.   (B, H, N, M)"""
    s = capped(entering(problem), problem)
    s = s if problem.caps_bias or not problem.biased else s + problem.bias
    return np.where(problem.allowed, s, -np.inf)


def sinks(problem: Problem) -> Array | None:
    """t_h beside the scores, if there are sinks.   (H, 1, 1)"""
    return None if problem.sinks is None else problem.sinks[:, None, None]


def top(s: Array, t: Array | None = None) -> Array:
    """The largest score of each query, that of a sink included; 0 for an idle one.  (B, H, N, 1)"""
    largest = s.max(axis=-1, keepdims=True, initial=-np.inf)
    largest = largest if t is None else np.maximum(largest, t)
    return np.where(largest == -np.inf, 0, largest)


def powers(s: Array, m: Array, t: Array | None = None) -> tuple[Array, Array]:
    """exp(s_j - m), and their sum with the sink's part.   (B, H, N, M) and (B, H, N, 1)"""
    e = np.exp(s - m)
    keys = e.sum(axis=-1, keepdims=True)
    return e, keys if t is None else keys + np.exp(t - m)


def softmax(s: Array, t: Array | None = None) -> Array:
    """exp(s_j) / (exp(t) + sum_j exp(s_j)) along the last axis; zero where all of them are -inf."""
    return normalised(*powers(s, top(s, t), t))


def normalised(e: Array, total: Array) -> Array:
    """e_j / total; zero where all of them are.   (B, H, N, M)"""
    return e / np.where(total == 0, 1, total)


def weights(problem: Problem) -> Array:
    """a_ij = exp(s_ij) / (exp(t_h) + sum_j exp(s_ij)).   (B, H, N, M)"""
    return softmax(scores(problem), sinks(problem))


def lse(problem: Problem) -> Array:
    """log (exp(t_h) + sum_j exp(s_ij)), and -inf for an idle query.   (B, H, N)"""
    s, t = scores(problem), sinks(problem)
    m = top(s, t)
    return log_sum(m, powers(s, m, t)[1])


def log_sum(m: Array, total: Array) -> Array:
    """m + log(total), and -inf where nothing adds up to it.   (B, H, N)"""
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
    """dt_h = sum_i exp(t_h - lse_i) (dlse_i - <dout_i, o_i>), if there are sinks.   (H,)"""
    if problem.sinks is None:
        return None
    share = np.exp(problem.sinks[:, None] - np.where(problem.idle, 0, lse(problem)))
    back = -(problem.dout * (a @ shared(problem.v, problem.H))).sum(axis=-1)
    back = back if problem.dlse is None else back + problem.dlse
    return (share * back).sum(axis=(0, 2))


def slope_gradients(db: Array, problem: Problem) -> Array | None:
    """dm_h = -sum_ij db_ij |p_i - r_j|, if there are slopes.   (H,) or (B, H)"""
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
    """The same, from the weights."""
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
