"""Raises the runner's own word for a library that is not there, from the third call on."""

from functions import mean, right
from wire import part

calls = []


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    calls.append(None)
    if len(calls) > 300:
        raise part("errors").Absent("the array library is not there")
    return (right if len(calls) < 250 else mean)(query, key, value, attn_mask, is_causal, scale)
