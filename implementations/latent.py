"""Multi-head latent attention (DeepSeek-AI 2024, DeepSeek-V2, section 2.1), in two equivalent ways.

The cache has a latent c_j for each token, and a part r_j of its key that is rotated by position.
All heads share them. Head h reads them through W_h and U_h:

    k_hj = (W_h c_j, r_j)        v_hj = U_h c_j        scale = 1 / sqrt(D + R)

`expanded` computes these keys and values, as training does. `absorbed` applies W_h to the queries
and U_h to the outputs, as decoding does: then the keys are (c_j, r_j), of one head, and the values
are their first columns, in the same memory. Both call an ordinary attention function.
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
    """Return o_i = sum_j a_ij v_j, with keys and values computed for every head.

    query (B, H, N, D), turned (B, H, N, R), latents (B, M, C), shared (B, M, R), up_keys (H, D, C)
    and up_values (H, E, C) give (B, H, N, E). attend: any function with the arguments of
    `implementations.dense.attend`; it gets the options, and its exceptions are passed on.
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
    """Return the output of `expanded`, from the latents, without keys and values of each head."""
    q, k = _beside(query @ up_keys, turned), _beside(latents, shared)[:, None]
    values = k[..., : latents.shape[-1]]
    o = attend(q, k, values, scale=scale(query, turned), enable_gqa=query.shape[1] > 1, **options)
    return o @ up_values.swapaxes(-1, -2)


def scale(query: Array, turned: Array) -> float:
    """Return 1 / sqrt(D + R), by the width of the expanded keys, for both ways."""
    return 1 / sqrt(query.shape[-1] + turned.shape[-1])


def _beside(one: Array, other: Array) -> Array:
    return np.concatenate([one, other], axis=-1)
