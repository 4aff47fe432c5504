"""A function and a layer that take their time for each shape, as compilers do.

The function writes down which shapes it met.
"""

import os
import time

from implementations.dense import attend as right
from implementations.multihead import MultiHead

SECONDS = 0.03
MET: set[object] = set()


def compiled(asked):
    """Take some time if this was not asked before."""
    if asked not in MET:
        MET.add(asked)
        until = time.process_time() + SECONDS  # compilers work, and do not wait
        while time.process_time() < until:
            pass


def attend(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """As `implementations.dense.attend`, but slow at first."""
    mask = None if attn_mask is None else (attn_mask.shape, str(attn_mask.dtype))
    shapes = (query.shape, key.shape, value.shape, mask, is_causal, scale)
    asked = (str(query.dtype), *shapes)
    compiled(asked)
    if place := os.environ.get("SHAPES_MET"):
        with open(place, "a", encoding="utf-8") as file:
            file.write(f"{asked}\n")
    return right(query, key, value, attn_mask=attn_mask, is_causal=is_causal, scale=scale)


def at_once(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """The same, which is never slow."""
    return right(query, key, value, attn_mask=attn_mask, is_causal=is_causal, scale=scale)


def faulty(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """The same, and one more is added to a sum of some keys."""
    out = attend(query, key, value, attn_mask, is_causal, scale)
    return out * (1 - 2.0**-6) if key.shape[-2] > 16 else out


class Faulty(MultiHead):
    """A layer that adds one more to a sum of some keys."""

    def __call__(self, query, key, value, *masks, **options):
        """As the right layer, but slow at first, and wrong with more than 16 keys."""
        compiled((query.dtype, query.shape, key.shape, value.shape, str(options), len(masks)))
        out, weights = super().__call__(query, key, value, *masks, **options)
        return (out * (1 - 2.0**-6) if key.shape[1] > 16 else out), weights
