"""How to make a wrong layer: replace a step.

    @wrong("scale", incident="I14")
    def scales_by_the_whole_width(sizes: Sizes) -> float:
        '''Divides by the square root of the model width, not of a head's.'''
        return 1 / np.sqrt(sizes.A)

Decorated, the name stands for a class of layers, so that it can be certified (and rejected)
like anybody else's. Its record is its attribute `mistake`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from spec.layer.mistakes.pipeline import Steps, multihead
from spec.layer.plug import layer
from spec.mistake import described

RIGHT = Steps()
BACKWARD = frozenset(
    {
        "into_context",
        "score_gradients",
        "into_keys",
        "of_weight",
        "of_bias",
        "of_input",
        "arrive",
        "gather",
        "descend",
    }
)


def around(**facts: Any) -> Callable[[Callable[..., Any]], type]:
    """A class of right layers whose calls go through the decorated function.

    It is called with the layer, the right call, and the arguments of the call.
    """

    def decorate(wrapper: Callable[..., Any]) -> type:
        build = multihead(RIGHT, RIGHT)
        call = build.__call__

        def called(self: Any, query: Any, key: Any, value: Any, **options: Any) -> Any:
            return wrapper(self, call, query, key, value, **options)

        called.__signature__ = inspect.signature(call)  # type: ignore[attr-defined]
        build.__call__ = called  # type: ignore[method-assign]
        return described(build, wrapper, load=layer, **facts)

    return decorate


def wrong(step: str, **facts: Any) -> Callable[[Callable[..., Any]], type]:
    """A class of layers with one step replaced by the decorated function."""

    def decorate(replacement: Callable[..., Any]) -> type:
        steps = RIGHT.but(**{step: replacement})
        build = multihead(RIGHT, steps) if step in BACKWARD else multihead(steps, RIGHT)
        return described(build, replacement, load=layer, **facts)

    return decorate
