"""Layers and records, right and wrong, for the tests of the tools that judge them."""

import os
from dataclasses import replace

import numpy as np

from implementations.alibi import bias
from implementations.cached import Growing
from implementations.multihead import MultiHead
from implementations.rotary import rotate, rotate_halves
from implementations.sinusoidal import encode
from spec.positions.rotary.plug import rotation

TURNS = rotation(rotate, backend="numpy")
BY_HAND = replace(TURNS, call=lambda problem: TURNS.call(problem))


def by_halves(x, positions):
    """A rotation that does not say how it pairs its columns."""
    return rotate_halves(x, positions)


def sines_before_cosines(x):
    """So does this one not, which adds what `encode` would, in another order."""
    width = x.shape[-1]
    table = encode(np.zeros((1, *x.shape[1:]), x.dtype))
    return x + np.concatenate([table[..., 0:width:2], table[..., 1:width:2]], axis=-1)


def charges_the_past(heads, queries, keys, dtype=np.float64):
    """A bias that leaves what lies ahead to a mask."""
    return np.tril(bias(heads, queries, keys, dtype=dtype), keys - queries)


class Keeps(Growing):
    """A cache, of which hardly anything is left open."""


class Attends(MultiHead):
    """True in a mask means that a query may attend."""

    def __call__(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
        is_causal=False,
    ):
        return super().__call__(
            query,
            key,
            value,
            None if key_padding_mask is None else opposite(key_padding_mask),
            need_weights,
            None if attn_mask is None else opposite(attn_mask),
            average_attn_weights,
            is_causal,
        )


class OwnWhenIdle(MultiHead):
    """Answers in a way of its own where there is nothing to attend to."""

    def __call__(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
    ):
        own_y, own_a = self.instead(query, key, value)
        y, a = super().__call__(
            query, key, value, key_padding_mask, True, attn_mask, average_attn_weights=False
        )
        idle = (a == 0).all(axis=-1, keepdims=True)
        y = np.where(idle.any(axis=-3), own_y, y).astype(y.dtype)
        a = np.where(idle, own_a, a).astype(a.dtype)
        a = a.mean(axis=-3) if average_attn_weights else a
        return y, a if need_weights else None


class NanWhenIdle(OwnWhenIdle):
    """Divides zero by zero where there is nothing to attend to."""

    def instead(self, *_):
        return np.nan, np.nan


class UniformWhenIdle(OwnWhenIdle):
    """Attends to all keys alike where none may be seen."""

    def instead(self, query, key, value):
        return MultiHead.__call__(
            self, query, np.zeros_like(key), value, average_attn_weights=False
        )


class WithoutOutput(MultiHead):
    """Saves its output projection under a name of its own."""

    def state_dict(self):
        found = super().state_dict()
        found["to_out.weight"] = found.pop("out_proj.weight")
        return found


class HeadsSideBySide(MultiHead):
    """Forgets to join its heads."""

    def __call__(self, query, key, value, **options):
        y, a = super().__call__(query, key, value, **options)
        return np.stack([y, y], axis=-1), a


class NoHeads:
    """Takes no number of heads."""

    def __init__(self, embed_dim):
        self.embed_dim = embed_dim


class Aborts(MultiHead):
    """Brings its process down where padding is handed over."""

    def __call__(self, query, key, value, key_padding_mask=None, **options):
        if key_padding_mask is not None:
            os.abort()
        return super().__call__(query, key, value, **options)


class HalfAsLoud(MultiHead):
    """Halves what it says, and has the gradients of a layer that does not."""

    def __call__(self, query, key, value, **options):
        y, a = super().__call__(query, key, value, **options)
        return y / 2, a


class ListsValueGradients(MultiHead):
    """Has right gradients, and hands over those of the values as a list of lists."""

    def backward(self, dout):
        dquery, dkey, dvalue, named = super().backward(dout)
        return dquery, dkey, dvalue.tolist(), named


def opposite(mask):
    return np.logical_not(mask) if mask.dtype == bool else mask


class Maskless(MultiHead):
    """Lets every query see every key, and takes nothing that says otherwise."""

    def __call__(self, query, key, value):
        return super().__call__(query, key, value)


class ShortMasks(MultiHead):
    """Takes masks of up to five keys, and so far nobody has asked for more."""

    def __call__(self, query, key, value, attn_mask=None, **options):
        if attn_mask is not None and attn_mask.shape[-1] > 5:
            raise ValueError("more than five keys")
        return super().__call__(query, key, value, attn_mask=attn_mask, **options)


class FilledWhenIdle(OwnWhenIdle):
    """Fills where a truth value forbids, and adds what is to be added: a mean, and NaN."""

    def __call__(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
    ):
        added = attn_mask is not None and attn_mask.dtype != bool
        self.instead = self.nothing if added else self.mean
        masks = (key_padding_mask, need_weights, attn_mask, average_attn_weights)
        return super().__call__(query, key, value, *masks)

    def nothing(self, *_):
        return np.nan, np.nan

    def mean(self, query, key, value):
        return UniformWhenIdle.instead(self, query, key, value)


class UniformUnlessShown(UniformWhenIdle):
    """Clears what it attends to alike where its heads are shown, of which it takes no mean."""

    def __call__(
        self,
        query,
        key,
        value,
        key_padding_mask=None,
        need_weights=True,
        attn_mask=None,
        average_attn_weights=True,
    ):
        if need_weights and average_attn_weights:
            raise ValueError("there is no mean of the heads")
        kind = MultiHead if need_weights else UniformWhenIdle
        masks = (key_padding_mask, need_weights, attn_mask, False)
        return kind.__call__(self, query, key, value, *masks)
