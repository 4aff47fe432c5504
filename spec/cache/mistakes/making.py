"""How to make a wrong cache: replace a step, or wrap the answer to a chunk.

    @wrong("visible", incident="I03", citation="pytorch/pytorch#110144")
    def puts_the_corner_top_left(kept: Kept, before: Array, n: int) -> Array:
        '''Bounds token i of a chunk by key i, as where nothing was read before.'''
        return visible(kept, 0 * before, n)

Decorated, the name stands for what makes such caches, as somebody might have written it:
`spec.cache.plug.cache` takes it. Its record is its attribute `mistake`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import MethodType
from typing import Any, Protocol, cast

from spec.cache.mistakes.buffered import RIGHT, Buffered, Steps
from spec.cache.plug import cache
from spec.mistake import Mistake, described
from spec.notation import Array


class Maker(Protocol):
    """What makes caches of one kind, its mistake attached."""

    __name__: str
    mistake: Mistake

    def __call__(
        self, batch: int, key_heads: int, width: int, value_width: int, dtype: Any
    ) -> Buffered: ...


Decorator = Callable[[Callable[..., Any]], Maker]
Extend = Callable[[Array, Array, Array, Array | None], Array]


def wrong(step: str, *, persistent: bool = False, **facts: Any) -> Decorator:
    """A cache with one step replaced by the decorated function; facts: fields of the Mistake."""

    def decorate(replacement: Callable[..., Any]) -> Maker:
        steps = RIGHT.but(**{step: replacement})
        return _described(partial(_made, steps=steps, persistent=persistent), replacement, facts)

    return decorate


def around(**facts: Any) -> Decorator:
    """A cache whose answers go through the decorated function.

    It is called with the cache, the right method `extend`, and its arguments.
    """

    def decorate(wrapper: Callable[..., Array]) -> Maker:
        return _described(partial(_made, steps=RIGHT, wrapper=wrapper), wrapper, facts)

    return decorate


def _made(
    batch: int,
    key_heads: int,
    width: int,
    value_width: int,
    dtype: Any,
    *,
    steps: Steps,
    persistent: bool = False,
    wrapper: Callable[..., Array] | None = None,
) -> Buffered:
    """One cache in which nothing was read."""
    made = Buffered(steps.start(batch, key_heads, width, value_width, dtype), steps, persistent)
    return made if wrapper is None else _wrapped(made, wrapper)


def _wrapped(made: Buffered, wrapper: Callable[..., Array]) -> Buffered:
    """The cache with its answers, and those of its branches, going through `wrapper`."""
    right, fork = made.extend, made.fork

    def extend(
        self: Buffered, query: Array, key: Array, value: Array, counts: Array | None = None
    ) -> Array:
        return wrapper(self, right, query, key, value, counts)

    vars(made).update(extend=MethodType(extend, made), fork=lambda: _wrapped(fork(), wrapper))
    return made


def _described(make: Any, source: Callable[..., Any], facts: dict[str, Any]) -> Maker:
    """`make` under the name and docstring of `source`, with its record attached."""

    def maker(batch: int, key_heads: int, width: int, value_width: int, dtype: Any) -> Buffered:
        return make(batch, key_heads, width, value_width, dtype)

    described(maker, source, load=cache, **facts)
    return cast(Maker, maker)
