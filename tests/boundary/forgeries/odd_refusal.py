"""Answers that the target raised an exception of a kind that is a list."""

from functions import mean
from wire import answering


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


answering(lambda told, found: {"no": {"type": "E", "line": "", "kind": [], "missing": None}})
