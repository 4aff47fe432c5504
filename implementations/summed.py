"""What the derivatives by one number for each head add up to."""

import numpy as np

from implementations.arguments import rounded
from spec.notation import Array


def by_sinks(share: Array, dout: Array, o: Array, dtype: np.dtype) -> Array:
    """The derivatives by the sinks, -sum_bi share_bhi <dout_bhi, o_bhi>, in their dtype.   (H,)

    share: (B, H, N), what the sink takes of the weights    dout, o: (B, H, N, E)
    """
    return rounded(-(share * (dout * o).sum(axis=-1)).sum(axis=(0, 2)), dtype)


def by_slopes(moment: Array, slopes: Array) -> Array:
    """The derivatives by the slopes, -sum_ij ds_ij |i - j|, in their dtype.   (H,) or (B, H)

    moment: the sums, (B, H), which are added over the batch where it shares its slopes
    """
    return rounded(-(moment if slopes.ndim == 2 else moment.sum(axis=0)), slopes.dtype)
