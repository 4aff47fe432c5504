"""Attention functions with faults that no catalogue has: what they are wrong on is said by sizes.

Each is right elsewhere, and none does what a known mistake does.
"""

import numpy as np

from implementations.cached import Growing
from implementations.multihead import MultiHead
from tests.targets import right


def one_for_none(query, key, value):
    """Returns an answer for a batch of none."""
    out = right(query, key, value)
    return out if len(out) else np.zeros((1, *out.shape[1:]), out.dtype)


def leaves_beyond_seven_queries(query, key, value):
    if query.shape[2] > 7:
        raise SystemExit(3)
    return right(query, key, value)


def loses_the_last_of_odd_heads(query, key, value):
    """Is right for arrays without an axis of heads, if the number of queries is even."""
    out = right(query, key, value)
    out[:, -1 :: -(out.shape[1] + 1)] *= 1 - out.shape[1] % 2
    return out


def reads_five_hundred_keys(query, key, value):
    """Does without the last key where there are 501, as a known mistake does everywhere."""
    return right(query, key[:, :, :500], value[:, :, :500])


def clips_queries(query, key, value):
    return right(np.clip(query, -8, 8), key, value)


def takes_low_biases_to_hide(query, key, value, attn_mask=None):
    """Some of its answers are those of other mistakes, which are wrong where it is right."""
    if attn_mask is not None and attn_mask.dtype != bool:
        attn_mask = np.where(attn_mask < -1000, -np.inf, attn_mask).astype(query.dtype)
    return right(query, key, value, attn_mask)


class ForgetsMasksUnlessAskedForWeights(MultiHead):
    """A layer that forgets truth values on its fast path, and never shows the weights of a head."""

    def __call__(self, query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None):
        if not need_weights and attn_mask is not None and attn_mask.dtype == bool:
            attn_mask = None
        return super().__call__(query, key, value, key_padding_mask, need_weights, attn_mask)


class OverwritesFromItsThirdAppendOn(Growing):
    """A cache whose third append, and each later one, writes over the first keys."""

    rollback = fork = property()  # it has neither
    appends = 0

    def extend(self, query, key, value, counts=None):
        self.appends += 1
        if self.appends >= 3:
            self.k[:, :, 0], self.v[:, :, 0] = key[:, :, 0], value[:, :, 0]
        return super().extend(query, key, value, counts)
