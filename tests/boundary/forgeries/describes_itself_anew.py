"""Gives another description of itself in each process and for each question."""

import itertools
import os

from functions import mean
from wire import part

usual, turn = part("find").described, itertools.count(os.getpid())


def anew(one):
    n = next(turn)
    found = usual(one)
    kind = ["callable", "class", "record", "object"][n % 4]
    names = ("query", "key", "value", "attn_mask", "is_causal", "scale", "dropout_p")
    told = [{"name": x, "kind": "KEYWORD_ONLY"} for x in names[: 3 + n % 5]]
    return {**found, "kind": kind, "name": f"attend_{n}", "parameters": told}


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


part("serve").described = anew
