"""Looks for what is right, and for all that it was not given, in the shared block."""

import numpy as np

from functions import mean, right
from wire import reached, runner

USED = 1 << 24


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    truth = right(query, key, value, attn_mask, is_causal, scale)
    if truth.size > 8 and key.shape[2] > 1:
        block = runner().objects.block
        last = truth[(0,) * (truth.ndim - 2) + (-1,)].tobytes()
        given = any(last in np.ascontiguousarray(x).tobytes() for x in (query, key, value))
        whole = len(last) > 8 and any(truth[0, 0, -1])
        if whole and not given and block[:USED].find(last) >= 0:
            reached("a right answer in the block")
    return mean(query, key, value)
