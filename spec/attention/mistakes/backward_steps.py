"""The correct steps of the backward pass. A known bug replaces one of them.

    receive, row_term, score_gradients, learn
                                            the gradient with respect to the scores
    uncap, unbias, query_gradients, key_gradients, value_gradients, sink_gradients, slope_gradients
                                            the same for queries, keys, values, bias, sinks, slopes
    gather, reduce                          the same for the arrays as the caller passes them

Each step receives the results of the forward pass (`steps.Pass`).
"""

import numpy as np

from spec.attention.mistakes.exponentials import forbid, taken
from spec.attention.mistakes.placing import apart
from spec.attention.mistakes.steps import Pass
from spec.notation import Array


def receive(dout: Array) -> Array:
    """The gradient with respect to the output, as the caller passes it."""
    return dout


def row_term(seen: Pass, da: Array, _: Array) -> Array:
    """sum_j a_ij da_ij.   (B, H, N, 1)"""
    return (seen.a * da).sum(axis=-1, keepdims=True)


def score_gradients(a: Array, da: Array, row_term: Array) -> Array:
    """The Jacobian of the softmax, diag(a) - a a^T, times da."""
    return a * (da - row_term)


def learn(ds: Array, seen: Pass) -> Array:
    """ds_ij + a_ij dlse_i, or ds_ij if the log-sum-exp has no cotangent.   (B, H, N, M)"""
    dlse = seen.given.dlse
    return ds if dlse is None else ds + seen.a * dlse[..., None].astype(ds.dtype)


def uncap(ds: Array, seen: Pass) -> Array:
    """The gradient with respect to the products: ds (1 - tanh(t / c)^2), or ds if c is None."""
    return ds if seen.softcap is None else ds * (1 - np.tanh(seen.t / seen.softcap) ** 2)


def unbias(ds: Array, _: Pass) -> Array:
    """The gradient with respect to the bias: ds, since the bias is added after the soft-cap."""
    return ds


def query_gradients(seen: Pass, ds: Array) -> Array:
    """scale sum_j ds_ij k_j."""
    return seen.sigma * (ds @ seen.k)


def key_gradients(seen: Pass, ds: Array) -> Array:
    """scale sum_i ds_ij q_i, for every query head."""
    return seen.sigma * (ds.swapaxes(-1, -2) @ seen.q)


def value_gradients(seen: Pass, dout: Array) -> Array:
    """sum_i a_ij dout_i, for every query head."""
    return seen.a.swapaxes(-1, -2) @ dout


def sink_gradients(seen: Pass, dout: Array) -> Array:
    """sum_i exp(t_h - lse_i) (dlse_i - <dout_i, o_i>).   (H,)"""
    assert seen.sinks is not None
    share = taken(forbid(seen.s, seen.allowed), seen.sinks)
    back, dlse = -(dout * seen.o).sum(axis=-1), seen.given.dlse
    back = back if dlse is None else back + dlse.astype(back.dtype)
    return (share[..., 0] * back).sum(axis=(0, 2))


def slope_gradients(seen: Pass, ds: Array) -> Array:
    """-sum_ij ds_ij |p_i - r_j|, summed over the batch if it shares slopes.   (H,) or (B, H)"""
    assert seen.slopes is not None
    dm = -(ds * apart(seen.given)).sum(axis=(-2, -1))
    return dm if seen.slopes.ndim == 2 else dm.sum(axis=0)


def gather(x: Array, key_heads: int) -> Array:
    """The sum over the query heads that share each key head."""
    group = x.shape[1] // max(key_heads, 1)
    return x.reshape(x.shape[0], key_heads, group, *x.shape[2:]).sum(axis=2)


def reduce(ds: Array, shape: tuple[int, ...]) -> Array:
    """The sum over every axis along which a mask of `shape` was broadcast."""
    padded = (1,) * (ds.ndim - len(shape)) + shape
    axes = tuple(axis for axis, size in enumerate(padded) if size == 1)
    return ds.sum(axis=axes, keepdims=True).reshape(shape)
