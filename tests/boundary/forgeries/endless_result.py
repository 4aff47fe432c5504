"""Returns a list that contains itself, a list without end, or a generator, by turns."""

import itertools

from functions import mean


class Endless(list):
    def __iter__(self):
        return itertools.repeat(0)


own = []
own.append(own)
turn = itertools.cycle([0, 1, 2, 3])


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    found = mean(query, key, value)
    return [found, own, itertools.count(), Endless()][next(turn)]
