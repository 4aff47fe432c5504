"""Attention with dropout on its weights, in NumPy.

    o = (m a / (1 - p)) v        m_ij = 1 with probability 1 - p, else 0

(dropout: Srivastava et al. 2014). The caller passes the generator: equal states give equal masks.
The backward pass draws the mask again from such a state, so nothing of size N M is stored between
the passes.
"""

import numpy as np

from implementations import dense
from implementations.arguments import factor, laid_out, rounded
from spec.notation import Array


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    rng: np.random.Generator,
) -> Array:
    """Return o_i = sum_j m_ij a_ij v_j / (1 - dropout_p).

    query (B, H, N, D), key (B, H, M, D), value (B, H, M, E) give (B, H, N, E). attn_mask broadcasts
    to (B, H, N, M), as in `dense`; dropout_p = 0 drops nothing.
    """
    w, _, _ = dropped(query, key, attn_mask, dropout_p, is_causal, scale, rng)
    return rounded(w @ laid_out(value, w.dtype), query.dtype)


def backward(
    dout: Array,
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array]:
    """Return the gradients of <dout, o>, with the mask that the forward pass drew from a state."""
    w, a, factors = dropped(query, key, attn_mask, dropout_p, is_causal, scale, rng)
    q, k, v, g = (laid_out(x, w.dtype) for x in (query, key, value, dout))
    da = factors * (g @ v.swapaxes(-1, -2))
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True))
    ds *= w.dtype.type(factor(scale, q.shape[-1]))
    found = (ds @ k, ds.swapaxes(-1, -2) @ q, w.swapaxes(-1, -2) @ g)
    dq, dk, dv = (rounded(x, query.dtype) for x in found)
    return dq, dk, dv


def weights(
    query: Array,
    key: Array,
    value: Array,  # noqa: ARG001 - the signature of attend; weights do not depend on values
    attn_mask: Array | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    *,
    rng: np.random.Generator,
) -> Array:
    """Return m_ij a_ij / (1 - dropout_p), the factors of the values.   (B, H, N, M)"""
    w, _, _ = dropped(query, key, attn_mask, dropout_p, is_causal, scale, rng)
    return rounded(w, query.dtype)


def dropped(
    query: Array,
    key: Array,
    attn_mask: Array | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    rng: np.random.Generator,
) -> tuple[Array, Array, Array]:
    """Return the weights with dropout, those without, and the factors m / (1 - p)."""
    q, k, _ = dense.opened(query, key, key, enable_gqa=False)
    s, _, _ = dense.scores(q, k, attn_mask, is_causal, scale)
    a, _ = dense.softmax(s)
    kept = rng.random(a.shape) >= dropout_p
    factors = kept * a.dtype.type(1 / (1 - dropout_p) if dropout_p < 1 else 0)
    return factors * a, a, factors


vars(attend).update(backward=backward, weights=weights)
