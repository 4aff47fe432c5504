"""What a mistake of a layer is, and how to make one: replace a step.

    @wrong("scale", incident="C14")
    def scales_by_the_whole_width(sizes: Sizes) -> float:
        '''Divides by the square root of the model width, not of a head's.'''
        return 1 / np.sqrt(sizes.A)

Decorated, the name stands for a class of layers, so that it can be certified (and rejected)
like anybody else's. Its record is its attribute `mistake`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from spec.layer.mistakes.pipeline import Steps, multihead

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


@dataclass(frozen=True)
class LayerMistake:
    """A plausible wrong layer.

    sentence: the temptation, in one line. incident: the class of real bugs that it belongs
    to, or the published system (S0 to S4). citation: where it was reported, if it was.
    build: the class. harmless: it is right after all. convention: it is right where this
    convention is declared. dtypes: where it shows.
    """

    name: str
    sentence: str
    incident: str
    build: type
    citation: str = ""
    harmless: bool = False
    convention: tuple[str, str] | None = None
    force: Literal["must", "should"] = "must"
    dtypes: tuple[str, ...] = ("float32",)

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        known = {"S": "published system", "C": "incident class"}.get(self.incident[0])
        words = f"{known} {self.incident}" if known else self.incident
        return f"{words}, e.g. {self.citation}" if self.citation else words


def around(*, incident: str, **facts: Any) -> Callable[[Callable[..., Any]], type]:
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
        return _described(build, wrapper, incident, facts)

    return decorate


def wrong(step: str, *, incident: str, **facts: Any) -> Callable[[Callable[..., Any]], type]:
    """A class of layers with one step replaced by the decorated function."""

    def decorate(replacement: Callable[..., Any]) -> type:
        steps = RIGHT.but(**{step: replacement})
        build = multihead(RIGHT, steps) if step in BACKWARD else multihead(steps, RIGHT)
        return _described(build, replacement, incident, facts)

    return decorate


def _described(build: type, source: Callable[..., Any], incident: str, facts: Any) -> type:
    """The class under the name and docstring of `source`, with its record attached."""
    build.__name__ = build.__qualname__ = source.__name__
    build.__doc__, build.__module__ = source.__doc__, source.__module__
    sentence = (source.__doc__ or "").splitlines()[0]
    record = LayerMistake(source.__name__, sentence, incident, build, **facts)
    build.mistake = record  # type: ignore[attr-defined]
    return build
