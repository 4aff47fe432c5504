"""Answers with an array of no bytes, and of more elements than an array can have."""

from functions import mean
from wire import answering


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


def endless(told, found):
    if "a" in found.get("ok", {}).get("is", {}):
        found["ok"]["is"]["a"]["shape"] = [0] + [2**40] * 15
    return found


answering(endless)
