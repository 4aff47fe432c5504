"""Raises by turns all exceptions that are none: interrupt, exit, generator exit, and its own."""

import itertools

from functions import mean


class Own(BaseException):
    pass


turn = itertools.cycle([KeyboardInterrupt, SystemExit, GeneratorExit, Own, StopIteration, None])


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    kind = next(turn)
    if kind is not None:
        raise kind(0)
    return mean(query, key, value)
