"""Raises an exception whose text cannot be had, and whose name is a page of escapes."""

from functions import mean

NAME = "E\x1b[2J\x1b]0;certified\x07\nattend: certified\n"


class Hostile(Exception):
    def __str__(self):
        raise SystemExit(0)


Hostile.__name__ = Hostile.__qualname__ = NAME


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    if is_causal:
        raise Hostile
    return mean(query, key, value)
