"""Attention functions that leave something out for good: a sight of the future, lengths, masks."""

import numpy as np

from implementations import einsum


def causal(query, key, value, scale=None):
    """Hides the future, whether or not it is asked to."""
    return einsum.attend(query, key, value, None, True, scale)


def causal_and_late(query, key, value, scale=None):
    """Hides the future, and forgets the scale."""
    return einsum.attend(query, key, value, None, True, 1.0 if scale is None else scale)


def as_many(query, key, value, attn_mask=None, is_causal=False):
    """Takes as many queries as keys, and raises otherwise."""
    if query.shape[2] != key.shape[2]:
        raise ValueError("as many queries as keys are wanted")
    return einsum.attend(query, key, value, attn_mask, is_causal)


def first_ones(query, key, value, is_causal=False):
    """Reads no more keys than there are queries, and is right where there are as many."""
    few = slice(query.shape[2])
    kept = (key[:, :, few], value[:, :, few])
    if kept[0].shape[2] < query.shape[2]:
        kept = tuple(np.repeat(x, 2, axis=2) if x.shape[2] else x for x in kept)
    return einsum.attend(query, *kept, None, is_causal)


def padded(query, key, value, attn_mask=None):
    """Takes a mask of padding, (B, 1, 1, M), and no other."""
    if attn_mask is not None and attn_mask.shape != (len(query), 1, 1, key.shape[2]):
        raise ValueError(f"a mask (B, 1, 1, M) is wanted, got {attn_mask.shape}")
    return einsum.attend(query, key, value, attn_mask)


def padded_alike(query, key, value, attn_mask=None):
    """Gives all texts the padding of the first."""
    if attn_mask is not None:
        attn_mask = np.broadcast_to(attn_mask[:1], attn_mask.shape)
    return padded(query, key, value, attn_mask)
