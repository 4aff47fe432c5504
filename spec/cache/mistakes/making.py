"""A cache built from steps of which one is wrong.

    @wrong("visible", incident="BUG-03", citation="pytorch/pytorch#110144")
    def puts_the_corner_top_left(kept: Kept, before: Array, n: int) -> Array:
        '''Aligns the causal mask of a chunk top-left: its token i attends to keys 0 to i only.'''
        return visible(kept, 0 * before, n)

The decorated name stands for a function that makes such caches, as a user might have written it:
`spec.cache.plug.cache` accepts it. A function for the step "call" receives the correct `extend`,
the cache, and the arguments of the call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from spec import mistake
from spec.attention.mistakes.steps import combine, finish, share, weigh
from spec.cache.mistakes import steps as right
from spec.cache.mistakes.steps import Kept
from spec.mistake import Steps
from spec.notation import Array

Extend = Callable[..., Array]


class Buffered:
    """A cache that uses the given steps, in the form that `spec.cache.plug` accepts."""

    fewer_queries = True

    def __init__(self, kept: Kept, steps: Steps, persistent: bool = False) -> None:
        self.kept, self.steps, self.persistent = kept, steps, persistent

    def extend(self, query: Array, key: Array, value: Array, counts: Array | None = None) -> Array:
        """The output (B, H, n, E) for n queries; `counts[b]` of the tokens belong to sequence b."""
        return self.steps.call(Buffered._extend, self, query, key, value, counts)

    @np.errstate(all="ignore")  # wrong steps and masked positions may divide by zero
    def _extend(self, query: Array, key: Array, value: Array, counts: Array | None) -> Array:
        kept, steps, before = self.kept, self.steps, self.kept.lengths
        B, H, n, D = query.shape
        told = steps.count(counts, B, key.shape[2])
        most = int((before + told).max())
        if most > kept.room:
            kept.k, kept.v = steps.grow(kept.k, most), steps.grow(kept.v, most)
        steps.write(kept, steps.take(key), steps.take(value), told)
        kept.lengths, kept.chunks = before + told, kept.chunks + 1
        kept.high = np.maximum(kept.high, kept.lengths)
        wide = np.result_type(query.dtype, np.float32)
        k, v = (steps.share(x, H).astype(wide) for x in steps.fetch(kept))
        sigma = np.asarray(steps.scale(D, kept.lengths)).astype(wide)
        seen = steps.visible(kept, before, n)[:, None]
        a = steps.weigh(sigma * (query.astype(wide) @ k.swapaxes(-1, -2)), seen)
        return steps.finish(steps.combine(a, v, seen), query.dtype)

    def rollback(self, lengths: int | Array) -> None:
        """Keep only the first `lengths` tokens of each sequence."""
        self.steps.forget(self.kept, np.zeros_like(self.kept.lengths) + lengths)

    def fork(self) -> Buffered:
        """A second cache with the same tokens."""
        return Buffered(self.steps.branch(self.kept), self.steps, self.persistent)


def program(steps: Steps, persistent: bool = False) -> Any:
    """A function that makes empty caches with these steps."""

    def make(
        batch: int,
        key_heads: int,
        width: int,
        value_width: int,
        dtype: Any,
        capacity: int,
        window: int | None = None,
    ) -> Buffered:
        kept = steps.start(batch, key_heads, width, value_width, dtype)
        kept.window, kept.capacity = window, capacity
        return Buffered(kept, steps, persistent)

    return make


RIGHT = mistake.steps(
    right, call=mistake.call, share=share, weigh=weigh, combine=combine, finish=finish
)
wrong = partial(mistake.wrong, RIGHT, program)
