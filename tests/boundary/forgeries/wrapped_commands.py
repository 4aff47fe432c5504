"""Raises an exception whose text is broken into lines, one of which is a command to a service."""

from functions import mean


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if is_causal:
        raise RuntimeError(" ".join(["::add-mask::certified"] * 9))
    return mean(query, key, value)
