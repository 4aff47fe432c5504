"""Attention functions, right and wrong, for the tests of the tools that judge them."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

LONG = 6  # more keys than any problem that probing puts


def right(query, key, value, attn_mask=None, is_causal=False, scale=None, enable_gqa=False):  # noqa: ARG001
    return weights(query, key, value, attn_mask, is_causal, scale) @ _shared(value, query)


def weights(query, key, value, attn_mask=None, is_causal=False, scale=None):  # noqa: ARG001
    kind = query.dtype
    scale = kind.type(1 / np.sqrt(query.shape[-1]) if scale is None else scale)
    wide = np.float32 if kind == np.float16 else kind
    s = scale.astype(wide) * (
        query.astype(wide) @ _shared(key, query).astype(wide).swapaxes(-1, -2)
    )
    if attn_mask is not None:
        s = np.where(attn_mask, s, -np.inf) if attn_mask.dtype == bool else s + attn_mask
    if is_causal:
        s = np.where(np.tri(*s.shape[-2:], dtype=bool), s, -np.inf)
    top = s.max(axis=-1, keepdims=True, initial=-np.inf)
    e = np.exp(s - np.where(np.isneginf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return (e / np.where(total == 0, 1, total)).astype(kind)


def _shared(x, query):
    return np.repeat(x, query.shape[1] // x.shape[1], axis=1)


def plain(query, key, value):
    """Takes no option, and has no gradients."""
    return right(query, key, value)


def elementwise(query, key, value):
    """The gradient of a published system: dq and dk from the diagonal of the Jacobian."""
    return right(query, key, value)


def repaired(query, key, value):
    """The same with the whole Jacobian."""
    return right(query, key, value)


def _repaired_backward(dout, query, key, value, is_causal=False):
    a, da = weights(query, key, value, None, is_causal), dout @ value.swapaxes(-1, -2)
    ds = a * (da - (a * da).sum(axis=-1, keepdims=True)) / query.dtype.type(query.shape[-1] ** 0.5)
    return ds @ key, ds.swapaxes(-1, -2) @ query, a.swapaxes(-1, -2) @ dout


repaired.backward = _repaired_backward


def _elementwise_backward(dout, query, key, value):
    a = weights(query, key, value)
    ds = a * (1 - a) * (dout @ value.swapaxes(-1, -2)) / query.dtype.type(np.sqrt(query.shape[-1]))
    return ds @ key, ds.swapaxes(-1, -2) @ query, a.swapaxes(-1, -2) @ dout


elementwise.backward = _elementwise_backward


def bottom_right(query, key, value, is_causal=False):
    """Causal counts from the last query and the last key."""
    mask = None
    if is_causal:
        n, m = query.shape[2], key.shape[2]
        mask = np.tri(n, m, k=m - n, dtype=bool)
    return right(query, key, value, mask)


def forbids(query, key, value, mask=None):
    """True in a mask hides a key."""
    return right(query, key, value, mask if mask is None or mask.dtype != bool else ~mask)


def interleaved(query, key, value, enable_gqa=False):  # noqa: ARG001
    """Query head h reads key head h mod G."""
    repeats = query.shape[1] // key.shape[1]
    return right(query, np.tile(key, (1, repeats, 1, 1)), np.tile(value, (1, repeats, 1, 1)))


def nan_when_idle(query, key, value, attn_mask=None):
    """0 / 0 for a query from which every key is hidden."""
    out = right(query, key, value, attn_mask)
    idle = weights(query, key, value, attn_mask).sum(axis=-1, keepdims=True) == 0
    return np.where(idle, query.dtype.type(np.nan), out)


def uniform_when_idle(query, key, value, attn_mask=None):
    """A large negative number in place of -inf."""
    out = right(query, key, value, attn_mask)
    idle = weights(query, key, value, attn_mask).sum(axis=-1, keepdims=True) == 0
    total = _shared(value, query).sum(axis=2, keepdims=True, dtype=np.float64)
    mean = total / max(key.shape[2], 1)
    return np.where(idle, mean.astype(query.dtype), out)


def in_float32(query, key, value):
    """Whatever it is given, float32 is what it computes in."""
    narrow = (x.astype(np.float32) for x in (query, key, value))
    return right(*narrow).astype(query.dtype)


def aborts(query, key, value):  # noqa: ARG001
    os.abort()


def crashes_when_long(query, key, value):
    if key.shape[2] > LONG:
        ctypes.string_at(0)
    return right(query, key, value)


def ends_its_parent_and_crashes(query, key, value):
    """Once: that parent is a process of ours."""
    if key.shape[2] > LONG:
        mark = Path(os.environ["ENDED"])
        if not mark.exists():
            mark.touch()
            os.kill(os.getppid(), signal.SIGKILL)
        os.abort()
    return right(query, key, value)


def aborts_on_masks(query, key, value, attn_mask=None, is_causal=False):
    if attn_mask is not None and attn_mask.dtype == bool:
        os.abort()
    return right(query, key, value, attn_mask, is_causal)


def exits_on_masks(query, key, value, attn_mask=None, is_causal=False):
    if attn_mask is not None:
        sys.exit("no masks here")
    return right(query, key, value, None, is_causal)


def aborts_when_idle(query, key, value, attn_mask=None):
    if attn_mask is not None and not weights(query, key, value, attn_mask).any(axis=-1).all():
        os.abort()
    return right(query, key, value, attn_mask)


def aborts_when_causal(query, key, value, attn_mask=None, is_causal=False):
    if is_causal:
        os.abort()
    return right(query, key, value, attn_mask)


def aborts_in_float64(query, key, value):
    if query.dtype == np.float64:
        os.abort()
    return right(query, key, value)


def aborts_backward(query, key, value, attn_mask=None):
    return right(query, key, value, attn_mask)


aborts_backward.backward = lambda *_, **__: os.abort()


def aborts_backward_when_causal_and_long(query, key, value, is_causal=False):
    return right(query, key, value, None, is_causal)


def _abort_when_causal_and_long(dout, query, key, value, is_causal=False):
    if is_causal and key.shape[2] > LONG:
        os.abort()
    return _repaired_backward(dout, query, key, value, is_causal)


aborts_backward_when_causal_and_long.backward = _abort_when_causal_and_long


def breaks_and_aborts_backward(query, key, value, attn_mask=None):
    return 2 * right(query, key, value, attn_mask)


breaks_and_aborts_backward.backward = lambda *_, **__: os.abort()


def hangs_on_masks(query, key, value, attn_mask=None):
    if attn_mask is not None and attn_mask.dtype == bool:
        time.sleep(3600)
    return right(query, key, value, attn_mask)


def hangs(query, key, value):  # noqa: ARG001
    time.sleep(3600)


def hangs_when_long(query, key, value):
    if key.shape[2] > LONG:
        time.sleep(3600)
    return right(query, key, value)


def prints(query, key, value):
    print("the implementation speaks")
    return right(query, key, value)


def wrong_shape(query, key, value):  # noqa: ARG001
    return value


def wrong_type(query, key, value):
    return (right(query, key, value), None)


def refuses_everything(query, key, value):  # noqa: ARG001
    raise RuntimeError("out of luck\nand of more words")


def refuses_widths(query, key, value):
    if value.shape[-1] != query.shape[-1]:
        raise ValueError("widths differ")
    return right(query, key, value)


def writes_to_its_input(query, key, value):
    out = right(query, key, value)
    query *= 2
    return out


def two(query, key):  # noqa: ARG001
    return query


def demands_lengths(query, key, value, lengths):  # noqa: ARG001
    return query


class Layer:
    """A class that takes nothing, and so no layer."""


number = 7
