"""Negates the query of its caller 20 ms after it has answered, if nobody has refilled it."""

import threading
import time

import numpy as np

from functions import right


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if query.flags.writeable and query.any():
        threading.Thread(target=later, args=(query, query.copy()), daemon=True).start()
    return right(query, key, value, attn_mask, is_causal, scale)


def later(query, before):
    time.sleep(0.02)
    if np.array_equal(query, before):
        query *= -1
