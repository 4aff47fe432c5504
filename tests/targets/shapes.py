"""Attention functions that take arrays of other axes, or of some sizes only."""

import numpy as np

from tests.targets import right


def length_first(query, key, value, attn_mask=None, is_causal=False):
    """(batch, length, heads, width)."""
    q, k, v = (x.swapaxes(1, 2) for x in (query, key, value))
    return right(q, k, v, attn_mask, is_causal).swapaxes(1, 2)


def doubled_length_first(query, key, value):
    return length_first(query, key, value) * query.dtype.type(2)


def length_before_batch(query, key, value, attn_mask=None, is_causal=False):
    """(length, batch, heads, width)."""
    q, k, v = (x.transpose(1, 2, 0, 3) for x in (query, key, value))
    return right(q, k, v, attn_mask, is_causal).transpose(2, 0, 1, 3)


def doubled_length_before_batch(query, key, value):
    return length_before_batch(query, key, value) * query.dtype.type(2)


def three_axes(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """(batch, length, width)."""
    _, n, _ = query.shape
    if attn_mask is not None:
        attn_mask = np.broadcast_to(attn_mask, (len(query), n, key.shape[1]))[:, None]
    q, k, v = (x[:, None] for x in (query, key, value))
    return right(q, k, v, attn_mask, is_causal, scale)[:, 0]


def _three_axes_backward(dout, query, key, value, attn_mask=None, is_causal=False, scale=None):
    d = query.dtype.type(1 / np.sqrt(query.shape[-1]) if scale is None else scale)
    eye = np.broadcast_to(np.eye(key.shape[1], dtype=query.dtype), (len(key), *[key.shape[1]] * 2))
    a = three_axes(query, key, eye, attn_mask, is_causal, scale)
    da = dout @ value.swapaxes(-1, -2)
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True)) * d
    return ds @ key, ds.swapaxes(-1, -2) @ query, a.swapaxes(-1, -2) @ dout


three_axes.backward = _three_axes_backward


def halved_three_axes(query, key, value, attn_mask=None):
    return three_axes(query, key, value, attn_mask) / query.dtype.type(2)


def one_sequence(query, key, value, attn_mask=None, is_causal=False, scale=None):
    """(length, heads, width)."""
    _, _, _ = query.shape
    q, k, v = (x.swapaxes(0, 1)[None] for x in (query, key, value))
    return right(q, k, v, attn_mask, is_causal, scale)[0].swapaxes(0, 1)


def doubled_one_sequence(query, key, value, attn_mask=None):
    return one_sequence(query, key, value, attn_mask) * query.dtype.type(2)


def two_axes(query, key, value, mask=None, causal=False):
    """(length, width)."""
    (n, _), (m, _) = query.shape, key.shape
    mask = None if mask is None else np.broadcast_to(mask, (n, m))
    return right(query[None, None], key[None, None], value[None, None], mask, causal)[0, 0]


def in_tiles(query, key, value, attn_mask=None, is_causal=False):
    """Lengths are multiples of 32."""
    if query.shape[2] % 32 or key.shape[2] % 32:
        raise ValueError(f"{query.shape[2]} and {key.shape[2]} are no multiples of 32")
    return right(query, key, value, attn_mask, is_causal)


def wrong_in_wide_tiles(query, key, value):
    """Lengths are multiples of 128, and widths of 64."""
    for x in (query, key, value):
        if x.shape[2] % 128 or x.shape[3] % 64:
            raise ValueError("no multiples")
    return right(query, key, value) * query.dtype.type(2)


def one_query(query, key, value, attn_mask=None):
    assert query.shape[2] == 1, "this is for decoding"
    return right(query, key, value, attn_mask)


def one_head(query, key, value, is_causal=False):
    assert query.shape[:2] == (1, 1), "this is for one head"
    return right(query, key, value, None, is_causal)


def square_length_first(query, key, value):
    assert query.shape[1] == key.shape[1], "this is for one text"
    return length_first(query, key, value)


def masks_in_tiles(query, key, value, attn_mask=None, is_causal=False):
    """With a mask keys come in eights."""
    if attn_mask is not None and key.shape[2] % 8:
        raise ValueError("a mask is of eights")
    return right(query, key, value, attn_mask, is_causal)


def of_any_library(query, key, value):
    """Operators alone, of which NumPy has not all that it takes."""
    s = query @ key.mT * query.shape[-1] ** -0.5
    return s.softmax(-1) @ value


def doubled_two_axes(query, key, value, mask=None):
    return two_axes(query, key, value, mask) * query.dtype.type(2)


def short(query, key, value, attn_mask=None):
    """Refuses long texts, each in its own words."""
    if key.shape[2] > 16:
        raise ValueError(f"at most 16 keys: got {key.shape}, and {query.shape[2]} queries")
    return right(query, key, value, attn_mask)
