"""What a row hands on as one number, and what the derivatives by one for each head add up to."""

import numpy as np

from implementations.arguments import rounded
from spec.notation import Array


def there(dlse: Array | None, place: tuple[int | slice, ...]) -> Array | None:
    """The cotangent of the log-sum-exp at a place, if there is one."""
    return None if dlse is None else dlse[place]


def less(mean: Array, dlse: Array | None) -> Array:
    """A row term less the cotangent of the log-sum-exp, if there is one; shaped like the first."""
    return mean if dlse is None else mean - dlse.reshape(mean.shape).astype(mean.dtype)


def row_terms(dout: Array, o: Array, dlse: Array | None) -> Array:
    """<dout_i, o_i> - dlse_i, which a score gradient has less than <dout_i, v_j>.   (..., N)

    dout, o: (..., N, E)    dlse: (..., N), the cotangent of the log-sum-exp, or None
    """
    return less((dout * o).sum(axis=-1), dlse)


def score_gradients(
    a: Array, dout: Array, v: Array, seen: Array, dlse: Array | None = None
) -> Array:
    """ds_ij = a_ij (da_ij - sum_j a_ij da_ij + dlse_i), da_ij = <dout_i, v_j> where j is seen."""
    with np.errstate(over="ignore", invalid="ignore"):  # a forbidden value may hold anything
        da = np.where(seen, dout @ v.swapaxes(-1, -2), 0)
    return a * (da - less((a * da).sum(axis=-1, keepdims=True), dlse))


def by_sinks(
    share: Array, dout: Array, o: Array, dtype: np.dtype, dlse: Array | None = None
) -> Array:
    """The derivatives by the sinks, sum_bi share_bhi (dlse_bhi - <dout_bhi, o_bhi>).   (H,)

    share: (B, H, N), what the sink takes of the weights    dtype: that of the sinks
    """
    return rounded(-(share * row_terms(dout, o, dlse)).sum(axis=(0, 2)), dtype)


def by_slopes(moment: Array, slopes: Array) -> Array:
    """The derivatives by the slopes, -sum_ij ds_ij |i - j|, in their dtype.   (H,) or (B, H)

    moment: the sums, (B, H), which are added over the batch where it shares its slopes
    """
    return rounded(-(moment if slopes.ndim == 2 else moment.sum(axis=0)), slopes.dtype)
