"""Right implementations: of attention, each a plain function in torch's spelling,

    loops           index by index, as the formulas are written
    heads           a list of heads, each attended alone
    dense           the whole matrix of weights at once
    einsum          index notation; shared key heads are one more letter
    online          one pass over the keys, none of which is kept
    fused           tiles, and weights that are computed again in the backward pass
    einsum_torch    index notation, gradients by autograd
    fused_torch     tiles in torch, with a backward pass of its own
    fused_triton    tiles in Triton, for a GPU, or for a CPU in Triton's interpreter
    split           keys in parts, merged by `merging`
    ring            tokens on several ranks (`ranks`), whose keys go round (`ring_rank`)
    packed, packed_torch    many texts in one array, told by cumulative lengths, for `fused`
    kvcache, kvcache_torch  keys in pages that a table names, and how many there are, for `fused`
    latent          keys and values made of latents, written out or absorbed, for any of these
    adapters        other people's functions

and of what stands around it:

    multihead, multihead_torch          layers
    cached, cached_torch, paged         caches, that grow, are of a fixed length, or have pages
    rolling                             a cache of a window, in a ring
    computing_anew                      a cache of any attention function
    sinusoidal, rotary, alibi           ways to show positions, in NumPy and torch
    feed_forward, dropout, merging      in NumPy and torch
    systems                             the five published systems, written anew
    classifier                          texts of five topics, end to end

`arguments` and `arguments_torch` settle what mask, causality, shared heads, segments, positions,
sinks and slopes mean; `tiling` says where the tiles of `fused` and `fused_torch` lie, `tiles`,
`tiles_torch` and `tiles_triton` what is in them; the kernels of `fused_triton` are in
`kernels_triton`, those that go back in `gradients_triton`, and `launching_triton` starts them.
"""

from typing import NamedTuple


class Target(NamedTuple):
    """What to certify, as a person would name it on the command line."""

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
