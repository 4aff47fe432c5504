"""Refuses more than one key, where a mean is attention."""

from functions import mean


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if key.shape[2] > 1 or attn_mask is not None:
        raise NotImplementedError("one key at most")
    return mean(query, key, value)
