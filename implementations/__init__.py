"""Correct implementations of attention, each a plain function with torch's argument names:

    loops           index by index, as the formulas are written
    heads           a list of heads, computed one after another
    dense           the whole matrix of weights at once
    einsum          index notation; grouped-query attention adds one index
    online          one pass over the keys, without storing scores or weights
    fused           tiles; the backward pass computes the weights again
    einsum_torch    index notation, gradients by autograd
    fused_torch     tiles in torch, with a hand-written backward pass
    fused_triton    tiles in Triton, on a GPU, or on a CPU in Triton's interpreter
    split           keys in parts, merged by `merging`
    ring            tokens on several ranks (`ranks`), which pass the keys round (`ring_rank`)
    packed, packed_torch    sequences packed by cumulative lengths, computed by `fused`
    kvcache, kvcache_torch  keys in pages, with a page table and lengths, computed by `fused`
    latent          keys and values from latents, expanded or absorbed, for any of these

and of other parts of a transformer:

    multihead, multihead_torch          layers
    cached, cached_torch, paged         caches: growing, of a fixed length, or with pages
    rolling                             a cache of a sliding window, in a ring buffer
    computing_anew                      a cache around any attention function
    sinusoidal, rotary, alibi           positional encodings, in NumPy and torch
    feed_forward, dropout, merging      in NumPy and torch
    systems                             new implementations of the five published systems
    classifier                          a text classifier with five topics, end to end

`arguments` and `arguments_torch` implement the arguments: masks, causality, grouped heads,
segments, positions, attention sinks and ALiBi slopes. `tiling` chooses the tiles of `fused` and
`fused_torch`; `tiles`, `tiles_torch` and `tiles_triton` compute them. The forward kernels of
`fused_triton` are in `kernels_triton`, the backward kernels in `gradients_triton`, and
`launching_triton` launches both.
"""

from typing import NamedTuple


class Target(NamedTuple):
    """A target to certify, as on the command line: its name, library and layout."""

    name: str
    backend: str
    layout: str = "bhld"


TARGETS: tuple[Target, ...] = (
    Target("implementations.loops:attend", "numpy"),
    Target("implementations.heads:attend", "numpy"),
    Target("implementations.dense:attend", "numpy"),
    Target("implementations.einsum:attend", "numpy"),
    Target("implementations.online:attend", "numpy"),
    Target("implementations.fused:attend", "numpy"),
    Target("implementations.einsum_torch:attend", "torch"),
    Target("implementations.fused_torch:attend", "torch"),
)
