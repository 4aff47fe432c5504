"""Raises an exception whose text is never finished."""

import time

from functions import mean


class Endless(Exception):
    def __str__(self):
        time.sleep(1000)
        return ""


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if attn_mask is not None:
        raise Endless
    return mean(query, key, value)
