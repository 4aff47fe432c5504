"""Has a wrong function in its file, and a right one in the bytecode that Python runs instead."""

from functions import mean


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)
