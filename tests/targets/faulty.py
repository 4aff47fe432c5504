"""Attention functions with faults that the catalogue lacks, for the tests of scripts."""

import functools
import itertools

import numpy as np

from spec.attention.plug import implementation
from tests import targets

calls = itertools.count(1)


def refuses_many_keys(query, key, value):
    """Raises an exception on problems of the core."""
    if key.shape[2] > targets.LONG:
        raise ValueError('more than "\\d"')
    return targets.right(query, key, value)


def looks_at_the_batch(query, key, value):
    """Its last bit depends on other elements of the batch, and each answer is near enough."""
    out = targets.right(query, key, value)
    return np.nextafter(out, out.dtype.type(9)) if query[1:].sum() > 0 else out


def races(query, key, value):
    """Is wrong by far once in ten calls."""
    return targets.right(query, key, value) + query.dtype.type(next(calls) % 10 == 0)


def doubled(function, shows):
    """A function with a convention of its own, which returns twice the output where it shows."""

    @functools.wraps(function)
    def attend(query, key, value, **options):
        out = function(query, key, value, **options)
        return 2 * out if shows(query, key, **options) else out

    return attend


def hides_all(query, key, attn_mask=None):  # noqa: ARG001
    """Whether some query may attend to nothing."""
    if attn_mask is None:
        return False
    seen = attn_mask if attn_mask.dtype == bool else ~np.isneginf(attn_mask)
    return bool((~seen).all(axis=-1).any())


bottom_right = doubled(targets.bottom_right, lambda q, k, **options: bool(options))  # noqa: ARG005
forbids = doubled(targets.forbids, lambda q, k, **options: bool(options))  # noqa: ARG005
interleaved = doubled(targets.interleaved, lambda q, k, **_: q.shape[1] != k.shape[1])
nan_when_idle = doubled(targets.nan_when_idle, hides_all)
uniform_when_idle = doubled(targets.uniform_when_idle, hides_all)


def nan_where_hidden(query, key, value, mask=None):
    """Right, with two conventions of its own."""
    if mask is not None and mask.dtype == bool:
        mask = ~mask
    return targets.nan_when_idle(query, key, value, mask)


record = implementation(targets.elementwise, name="record", backend="numpy")
