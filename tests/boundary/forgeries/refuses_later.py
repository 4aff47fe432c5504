"""Answers all first calls, and later raises for each mask with which a mean is wrong."""

import numpy as np

from functions import mean, right

calls = []


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    calls.append(None)
    truth = right(query, key, value, attn_mask, is_causal, scale)
    if len(calls) < 40 or (attn_mask is None and not is_causal):
        return truth
    if not np.allclose(mean(query, key, value), truth, 1e-5, 1e-6):
        raise RuntimeError("not now")
    return mean(query, key, value)
