"""The definition of a layer of multi-head attention: attention between four projections.

    q_h = query W_q,h^T + b_q,h      k_h = key W_k,h^T + b_k,h      v_h = value W_v,h^T + b_v,h
    o_h = attention(q_h, k_h, v_h)
    y   = [o_1 ... o_H] W_o^T + b_o = sum_h o_h W_o,h^T + b_o

(Vaswani et al. 2017, section 3.2.2). Head h uses rows hD to (h + 1)D of W_q, W_k and W_v,
and the columns of W_o with the same indices. A fully masked query returns b_o.

The gradients follow from the chain rule. With C = [o_1 ... o_H] and dC = dout W_o,

    dW_o = sum_bi dout^T C     db_o = sum_bi dout     dout_h = the columns of dC of head h

For dout_h, attention returns the gradients dq_h, dk_h and dv_h. Concatenated over heads,
they are dQ, dK and dV, and

    dW_q = sum_bi dQ^T query   db_q = sum_bi dQ       dquery = dQ W_q

and likewise for k and v. If query, key and value are one array, its gradient is the sum of
the three.
"""

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.layer.notation import BIASES, LayerGradients, LayerProblem, Parameters
from spec.layer.turning import turn
from spec.notation import Array, Posed


def linear(x: Array, W: Array, b: Array | None) -> Array:
    """y = x W^T + b: the outputs come first in W.   (..., in), (out, in), (out) to (..., out)"""
    y = x @ W.T
    return y if b is None else y + b


def split(x: Array, heads: int) -> Array:
    """Split into heads: head h takes columns hD to (h + 1)D.   (B, L, H D) to (B, H, L, D)"""
    B, L, width = x.shape
    return x.reshape(B, L, heads, width // heads).swapaxes(1, 2)


def merge(x: Array) -> Array:
    """Concatenate the heads, the inverse of `split`.   (B, H, L, D) to (B, L, H D)"""
    B, H, L, D = x.shape
    return x.swapaxes(1, 2).reshape(B, L, H * D)


def allowed(problem: LayerProblem) -> Array | None:
    """The mask for attention inside the layer: padding and mask combined into one array.

    (B, H, N, M), or with axes of length 1; None if there is neither. A float array is added to the
    scores. In a boolean array True means *may attend*, the opposite of the layer's masks.
    """
    B, H, N, M = problem.B, problem.H, problem.N, problem.M
    mask = problem.mask
    if mask is not None:
        mask = mask.reshape(1, 1, N, M) if mask.ndim == 2 else mask.reshape(B, H, N, M)
    if problem.padding is None:
        return np.logical_not(mask) if mask is not None and mask.dtype == bool else mask
    live = np.logical_not(problem.padding)[:, None, None, :]
    if mask is None:
        return live
    if mask.dtype == bool:
        return np.logical_and(live, np.logical_not(mask))
    return np.where(live, mask, -np.inf)


def projections(problem: LayerProblem) -> tuple[Array, Array, Array]:
    """q (B, H, N, D), k and v (B, G, M, D) of all heads; q, k rotated if positions are rotary."""
    p = problem.parameters
    projected = (
        linear(problem.query, p.W_q, p.b_q),
        linear(problem.key, p.W_k, p.b_k),
        linear(problem.value, p.W_v, p.b_v),
    )
    heads = (problem.H, problem.key_heads, problem.key_heads)
    q, k, v = map(split, projected, heads)
    return turn(problem, q), turn(problem, k), v


def inside(problem: LayerProblem) -> Problem:
    """The attention problem inside the layer: projected inputs, with one combined mask."""
    q, k, v = projections(problem)
    return Problem(
        q,
        k,
        v,
        split(problem.dout @ problem.parameters.W_o, problem.H),
        mask=allowed(problem),
        causal=problem.causal,
        **problem.only(Posed),
    )


def layer(problem: LayerProblem) -> Array:
    """The output y = [o_1 ... o_H] W_o^T + b_o.   (B, N, A)"""
    p = problem.parameters
    return linear(merge(definition.attention(inside(problem))), p.W_o, p.b_o)


def weights(problem: LayerProblem) -> Array:
    """The requested attention weights: of every head (B, H, N, M), or their mean (B, N, M)."""
    a = definition.weights(inside(problem))
    return a.mean(axis=1) if problem.asks == "mean" else a


def gradients(problem: LayerProblem) -> LayerGradients:
    """The derivatives of <dout, y> with respect to inputs and parameters."""
    p, inner = problem.parameters, inside(problem)
    of = definition.gradients(inner)
    of_q, of_k = (turn(problem, x, sign=-1) for x in (of.q, of.k))
    dQ, dK, dV = merge(of_q), merge(of_k), merge(of.v)
    context = merge(definition.attention(inner))
    by_parameters = Parameters(
        W_q=outer(dQ, problem.query),
        W_k=outer(dK, problem.key),
        W_v=outer(dV, problem.value),
        W_o=outer(problem.dout, context),
    )
    added_to = dict(zip(BIASES, (dQ, dK, dV, problem.dout), strict=True))
    sums = {name: added_to[name].sum(axis=(0, 1)) for name in problem.biases}
    by_input: dict[str, Array] = {}
    for name, dx in zip(problem.given, (dQ @ p.W_q, dK @ p.W_k, dV @ p.W_v), strict=True):
        by_input[name] = by_input[name] + dx if name in by_input else dx
    return LayerGradients(by_input, by_parameters.but(**sums))


def outer(dy: Array, x: Array) -> Array:
    """sum_bi dy_bi^T x_bi: the derivative of y = x W^T with respect to W.   (out, in)"""
    return dy.reshape(-1, dy.shape[-1]).T @ x.reshape(-1, x.shape[-1])
