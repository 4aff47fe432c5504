"""A cache put together from steps, one of them wrong.

    @wrong("visible", incident="I03", citation="pytorch/pytorch#110144")
    def puts_the_corner_top_left(kept: Kept, before: Array, n: int) -> Array:
        '''Bounds token i of a chunk by key i, as where nothing was read before.'''
        return visible(kept, 0 * before, n)

Decorated, the name stands for what makes such caches, as somebody might have written it:
`spec.cache.plug.cache` takes it. What is decorated for the step "call" is given the right
`extend`, the cache, and the arguments.
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
    """The cache of some steps, as `spec.cache.plug` takes one."""

    fewer_queries = True

    def __init__(self, kept: Kept, steps: Steps, persistent: bool = False) -> None:
        self.kept, self.steps, self.persistent = kept, steps, persistent

    def extend(self, query: Array, key: Array, value: Array, counts: Array | None = None) -> Array:
        """The output (B, H, n, E) for n queries; each sequence has `counts` of the tokens."""
        return self.steps.call(Buffered._extend, self, query, key, value, counts)

    @np.errstate(all="ignore")  # wrong steps divide by zero; so may what is hidden
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
        """Only the first tokens of each sequence."""
        self.steps.forget(self.kept, np.zeros_like(self.kept.lengths) + lengths)

    def fork(self) -> Buffered:
        """A second cache that has read the same."""
        return Buffered(self.steps.branch(self.kept), self.steps, self.persistent)


def program(steps: Steps, persistent: bool = False) -> Any:
    """What makes caches of these steps, in which nothing was read."""

    def make(
        batch: int,
        key_heads: int,
        width: int,
        value_width: int,
        dtype: Any,
        window: int | None = None,
    ) -> Buffered:
        kept = steps.start(batch, key_heads, width, value_width, dtype)
        kept.window = window
        return Buffered(kept, steps, persistent)

    return make


RIGHT = mistake.steps(
    right, call=mistake.call, share=share, weigh=weigh, combine=combine, finish=finish
)
wrong = partial(mistake.wrong, RIGHT, program)
