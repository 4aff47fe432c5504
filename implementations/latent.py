"""Attention to latents (DeepSeek-AI 2024, DeepSeek-V2, section 2.1), in two ways that are one.

A token is kept as a latent c_j and a part r_j of its key that is turned by its place, both for all
heads. A head reads them through W_h and U_h,

    k_hj = (W_h c_j, r_j)        v_hj = U_h c_j        scale = 1 / sqrt(D + R)

`expanded` makes these keys and values, as training does. `absorbed` lets the queries through W_h
and what comes back through U_h, as decoding does: the keys are (c_j, r_j), of one head, and the
values their first columns, in the same memory. Each asks an attention function that knows neither.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np

from implementations import dense
from spec.notation import Array

Attend = Callable[..., Array]


def expanded(
    query: Array,
    turned: Array,
    latents: Array,
    shared: Array,
    up_keys: Array,
    up_values: Array,
    attend: Attend = dense.attend,
    **options: Any,
) -> Array:
    """o_i = sum_j a_ij v_j, of keys and values that are written out for every head.

    query (B, H, N, D), turned (B, H, N, R), latents (B, M, C), shared (B, M, R), up_keys (H, D, C)
    and up_values (H, E, C) give (B, H, N, E). attend: any function called like
    `implementations.dense.attend`, which takes the options, and raises what it raises.
    """
    keys, values = (latents[:, None] @ x.swapaxes(-1, -2) for x in (up_keys, up_values))
    place = np.broadcast_to(shared[:, None], (*keys.shape[:3], shared.shape[-1]))
    q, k = _beside(query, turned), _beside(keys, place)
    return attend(q, k, values, scale=scale(query, turned), **options)


def absorbed(
    query: Array,
    turned: Array,
    latents: Array,
    shared: Array,
    up_keys: Array,
    up_values: Array,
    attend: Attend = dense.attend,
    **options: Any,
) -> Array:
    """The same, of the latents themselves: no key and no value is made."""
    q, k = _beside(query @ up_keys, turned), _beside(latents, shared)[:, None]
    values = k[..., : latents.shape[-1]]
    o = attend(q, k, values, scale=scale(query, turned), enable_gqa=query.shape[1] > 1, **options)
    return o @ up_values.swapaxes(-1, -2)


def scale(query: Array, turned: Array) -> float:
    """1 / sqrt(D + R), the width of the keys that are written out, whichever way they are asked."""
    return 1 / sqrt(query.shape[-1] + turned.shape[-1])


def _beside(one: Array, other: Array) -> Array:
    return np.concatenate([one, other], axis=-1)
