"""What a mistake is, and how to make one: replace a step, or wrap the answer to a chunk.

    @wrong("visible", incident="C03", citation="pytorch/pytorch#110144")
    def puts_the_corner_top_left(kept: Kept, before: Array, n: int) -> Array:
        '''Bounds token i of a chunk by key i, as where nothing was read before.'''
        return visible(kept, 0 * before, n)

Decorated, the name stands for what makes such caches, as somebody might have written it:
`spec.cache.loading.cache` takes it. Its record is its attribute `mistake`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from types import MethodType
from typing import Any, Literal, Protocol

from spec.cache.loading import cache
from spec.cache.mistakes.buffered import RIGHT, Buffered, Steps
from spec.cache.record import Cache
from spec.notation import Array

Force = Literal["must", "should"]


class Maker(Protocol):
    """What makes caches of one kind, its mistake attached."""

    __name__: str
    mistake: Mistake

    def __call__(
        self, batch: int, key_heads: int, width: int, value_width: int, dtype: Any
    ) -> Buffered: ...


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong cache; the fields are those of `spec.mistakes.Mistake`."""

    name: str
    sentence: str
    incident: str
    citation: str
    make: Maker
    dtypes: tuple[str, ...] = ("float32",)
    harmless: bool = False
    force: Force = "must"

    @cached_property
    def record(self) -> Cache:
        """The mistake as a cache to be judged."""
        return cache(self.make, name=self.name, backend="numpy", dtypes=self.dtypes)


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

    maker.__name__ = maker.__qualname__ = source.__name__
    maker.__doc__, maker.__module__ = source.__doc__, source.__module__
    facts = {"citation": "", **facts}
    sentence = (source.__doc__ or "").splitlines()[0]
    maker.mistake = Mistake(source.__name__, sentence, make=maker, **facts)  # type: ignore
    return maker  # type: ignore[return-value]
