"""Describes itself by parameters that have no kind."""

from functions import mean
from wire import part


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    return mean(query, key, value)


part("find").listed.__code__ = (lambda one: [{"name": "query"}]).__code__
