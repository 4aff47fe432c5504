"""Row terms of the backward pass, and gradients with respect to sinks and slopes, in NumPy."""

import numpy as np

from implementations.arguments import rounded
from spec.notation import Array


def there(dlse: Array | None, place: tuple[int | slice, ...]) -> Array | None:
    """Return the cotangent of the log-sum-exp at an index, or None without one."""
    return None if dlse is None else dlse[place]


def less(mean: Array, dlse: Array | None) -> Array:
    """Return a row term, in its shape, minus the cotangent of the log-sum-exp if there is one."""
    return mean if dlse is None else mean - dlse.reshape(mean.shape).astype(mean.dtype)


def row_terms(dout: Array, o: Array, dlse: Array | None) -> Array:
    """Return <dout_i, o_i> - dlse_i, which score gradients subtract from <dout_i, v_j>.   (..., N)

    dout, o: (..., N, E)    dlse: (..., N), the cotangent of the log-sum-exp, or None
    """
    return less((dout * o).sum(axis=-1), dlse)


def score_gradients(
    a: Array, dout: Array, v: Array, seen: Array, dlse: Array | None = None
) -> Array:
    """Return ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i), da_ij = <dout_i, v_j> if visible."""
    with np.errstate(over="ignore", invalid="ignore"):  # a masked value may hold any number
        da = np.where(seen, dout @ v.swapaxes(-1, -2), 0)
    return a * (da - less((a * da).sum(axis=-1, keepdims=True), dlse))


def by_sinks(
    share: Array, dout: Array, o: Array, dtype: np.dtype, dlse: Array | None = None
) -> Array:
    """Return the gradient of the sinks, sum_bi share_bhi (dlse_bhi - <dout_bhi, o_bhi>).   (H,)

    share: (B, H, N), the weight of the sink    dtype: that of the sinks
    """
    return rounded(-(share * row_terms(dout, o, dlse)).sum(axis=(0, 2)), dtype)


def by_slopes(moment: Array, slopes: Array) -> Array:
    """Return the gradient of the slopes, -sum_ij ds_ij |i - j|, in their dtype.   (H,) or (B, H)

    moment: the sums, (B, H), which are added over the batch if it shares its slopes
    """
    return rounded(-(moment if slopes.ndim == 2 else moment.sum(axis=0)), slopes.dtype)
