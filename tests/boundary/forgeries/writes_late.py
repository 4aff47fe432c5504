"""Negates the query of its caller 20 ms after it has answered."""

import threading
import time

from functions import right


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if query.flags.writeable:
        threading.Thread(target=later, args=(query,), daemon=True).start()
    return right(query, key, value, attn_mask, is_causal, scale)


def later(query):
    time.sleep(0.02)
    query *= -1
