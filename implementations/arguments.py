"""What the arguments of attention mean, settled once for every NumPy implementation here.

`visible` reduces mask and causality to one question, whether query i may attend to
key j; `masked` answers it in the scores; `mixed` multiplies by weights so that a
forbidden key stays out even if it holds inf or NaN, since 0 * NaN would not be 0.
"""

from math import sqrt

import numpy as np

from spec.notation import Array


def accumulator(dtype: np.dtype) -> np.dtype:
    """The format to compute in: float32 for float16, which is rounded once at the end."""
    return np.promote_types(dtype, np.float32)


def laid_out(x: Array, dtype: np.dtype) -> Array:
    """x in `dtype` and in C order, as the strides decide in which order a product is summed."""
    return np.ascontiguousarray(x, dtype)


def rounded(x: Array, dtype: np.dtype) -> Array:
    """x in `dtype`; what is too large for it becomes infinite."""
    with np.errstate(over="ignore"):
        return x.astype(dtype, copy=False)


def factor(scale: float | None, D: int) -> float:
    """1 / sqrt(D) unless another scale is asked for; keys of no width need none."""
    return 1 / sqrt(max(D, 1)) if scale is None else scale


def group(H: int, G: int, enable_gqa: bool) -> int:
    """How many query heads read one key head.

    Raises ValueError: H and G differ and were not said to, or G does not divide H.
    """
    if H == G:
        return 1
    if not (enable_gqa and 0 < G < H) or H % G:
        raise ValueError(f"{H} query heads cannot share {G} key heads (enable_gqa={enable_gqa})")
    return H // G


def shared(x: Array, R: int) -> Array:
    """Each key head once for every query head that reads it: (B, G, ...) to (B, G R, ...)."""
    return x if R == 1 else np.repeat(x, R, axis=1)


def gathered(x: Array, R: int) -> Array:
    """The adjoint of `shared`, a sum over each group: (B, G R, ...) to (B, G, ...)."""
    return x if R == 1 else x.reshape(x.shape[0], x.shape[1] // R, R, *x.shape[2:]).sum(axis=2)


def everywhere(attn_mask: Array | None, shape: tuple[int, ...]) -> Array | None:
    """The mask seen in the full shape (B, H, N, M), in no more memory than it has."""
    return None if attn_mask is None else np.broadcast_to(attn_mask, shape)


def visible(attn_mask: Array | None, is_causal: bool, i: Array, j: Array) -> Array:
    """True where query i may attend to key j, for indices that broadcast with the mask."""
    seen: Array = np.broadcast_to(np.True_, np.broadcast_shapes(i.shape, j.shape))
    if attn_mask is not None:
        seen = attn_mask if attn_mask.dtype == bool else ~np.isneginf(attn_mask)
    return seen & (j <= i) if is_causal else seen


def masked(s: Array, attn_mask: Array | None, seen: Array) -> Array:
    """The scores with a float mask added, and -inf wherever a key is forbidden."""
    if attn_mask is not None and attn_mask.dtype != bool:
        with np.errstate(invalid="ignore"):
            s = s + attn_mask.astype(s.dtype)
    return s if seen.all() else np.where(seen, s, -np.inf)


def mixed(a: Array, x: Array, seen: Array) -> Array:
    """sum_j a_ij x_j over the keys that i may attend to.

    a, seen: (..., N, M)    x: (..., M, C)    result: (..., N, C)
    """
    finite = np.isfinite(x)
    if finite.all():
        return a @ x
    touched = np.broadcast_to(seen, a.shape).astype(a.dtype) @ (~finite).astype(a.dtype)
    return np.where(touched > 0, np.nan, a @ np.where(finite, x, 0))
