"""Context parallelism as a function of whole arrays: tokens are spread over ranks and gathered.

    attend = over("ring_flash_attn:zigzag_ring_flash_attn_func", ranks=2, sharding="zig-zag")

The function is called on each rank, in an initialised gloo process group, with the tokens of that
rank: torch tensors (B, tokens, heads, width), with as many tokens on each rank. It returns the
output for its tokens, and torch differentiates it there. Lengths are therefore multiples of the
number of ranks (of twice that number for zig-zag sharding), with as many queries as keys:
`--lengths 4`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from implementations.ranks import Peers, Ranks
from implementations.ring import gathered, spreading
from spec.notation import Array


def over(function: str, ranks: int = 2, sharding: str = "contiguous") -> Callable[..., Any]:
    """The function `module:name` over a number of ranks, with its gradients, for NumPy arrays.

    query, key and value (B, length, heads, width) give (B, length, heads, width). Raises ValueError
    for an unknown sharding.
    """
    pool, tokens = Ranks(ranks), spreading(sharding)

    def asked(
        dout: Array | None, *arrays: Array, causal: bool = False, softmax_scale: float | None = None
    ) -> list[Array]:
        options = {"causal": causal, "softmax_scale": softmax_scale}
        spread = tokens(arrays[0].shape[1], ranks)
        if len({len(own) for own in spread}) > 1 or len({x.shape[1] for x in arrays}) > 1:
            raise ValueError("a rank has as many tokens as another, and as many keys as queries")
        given = [
            (function, None if dout is None else dout[:, own], [x[:, own] for x in arrays], options)
            for own in spread
        ]
        answers = pool.asked(f"{__name__}:local", given)
        return [gathered([x[n] for x in answers], spread, axis=1) for n in range(len(answers[0]))]

    def attend(
        query: Array,
        key: Array,
        value: Array,
        causal: bool = False,
        softmax_scale: float | None = None,
    ) -> Array:
        return asked(None, query, key, value, causal=causal, softmax_scale=softmax_scale)[0]

    def backward(
        dout: Array, query: Array, key: Array, value: Array, **options: Any
    ) -> tuple[Array, ...]:
        return tuple(asked(dout, query, key, value, **options))

    vars(attend).update(backward=backward, pool=pool)
    return attend


def local(
    peers: Peers,  # noqa: ARG001 - the function finds its process group
    function: str,
    dout: Array | None,
    arrays: Sequence[Array],
    options: dict[str, Any],
) -> list[Array]:
    """The result on a rank: the output for its tokens, or the gradients of its inputs."""
    import torch

    module, _, name = function.partition(":")
    q, k, v = (torch.from_numpy(np.ascontiguousarray(x)) for x in arrays)
    inputs = [x.requires_grad_(dout is not None) for x in (q, k, v)]
    found = getattr(import_module(module), name)(*inputs, **options)
    out = found[0] if isinstance(found, tuple) else found
    if dout is None:
        return [out.numpy()]
    return [x.numpy() for x in torch.autograd.grad(out, inputs, torch.from_numpy(dout.copy()))]
