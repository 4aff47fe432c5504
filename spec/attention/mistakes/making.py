"""How to make a wrong attention function: replace a step, or wrap the whole call.

    @wrong("scale", incident="I14", citation="tenstorrent/tt-metal#56789")
    def scales_by_heads(sizes: Sizes, asked: float | None) -> float:
        '''Divides by the square root of the number of heads, having mixed up two variables.'''
        return 1 / np.sqrt(sizes.H) if asked is None else asked

Decorated, the name stands for a whole attention function of NumPy arrays, in the
spelling of torch's `scaled_dot_product_attention`, so that it can be certified
(and rejected) like anybody else's. Its record is its attribute `mistake`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from inspect import Parameter, Signature
from typing import Any, Literal, Protocol, cast

from spec.attention.mistakes import pipeline
from spec.attention.mistakes.pipeline import RIGHT, Options, Steps
from spec.attention.options import PARAMETERS
from spec.attention.plug import implementation
from spec.mistake import Mistake, described
from spec.notation import Array

Kind = Literal["forward", "gradient", "weights", "lse", "training", "call", "rounding"]

KINDS: Mapping[str, Kind] = {
    "receive": "gradient",
    "row_term": "gradient",
    "score_gradients": "gradient",
    "query_gradients": "gradient",
    "key_gradients": "gradient",
    "value_gradients": "gradient",
    "gather": "gradient",
    "reduce": "gradient",
    "show": "weights",
    "measure": "lse",
}  # of a step that is wrong; "forward" for all others
BESIDE = ("gradient", "training")  # kinds of mistake that leave the forward pass right


class Attention(Protocol):
    """A native attention function; what a kind of mistake is about is offered as an attribute.

    gradient: backward(dout, query, key, value, **options) -> (dq, dk, dv), and
        bias_gradient(dout, query, key, value, **options), shaped like the mask
    weights, lse, training: functions of the same signature as the function itself
    """

    __name__: str
    mistake: AttentionMistake

    def __call__(
        self, query: Array, key: Array, value: Array, *options: Any, **named: Any
    ) -> Array:
        """The output, with the options that `spec.attention.options` has."""


@dataclass(frozen=True)
class AttentionMistake(Mistake):
    """A plausible wrong attention function. kind: which results are wrong."""

    kind: Kind = "forward"

    @property
    def attend(self) -> Attention:
        """The function."""
        return cast(Attention, self.target)


Decorator = Callable[[Callable[..., Any]], Attention]


def wrong(step: str, *, incident: str, kind: Kind | None = None, **facts: Any) -> Decorator:
    """Attention with one step replaced by the decorated function.

    kind: where it is "gradient" or "training", the step is replaced in the backward pass
        or in the output of training alone, and the forward pass is right. It follows from
        the step unless it is given.
    facts: further fields of the Mistake.
    """
    kind = kind or KINDS.get(step, "forward")

    def decorate(replacement: Callable[..., Any]) -> Attention:
        steps = RIGHT.but(**{step: replacement})
        attend = partial(pipeline.attend, steps=RIGHT if kind in BESIDE else steps)
        function = native(attend)
        for name, value in _observers(kind, steps).items():
            setattr(function, name, value)
        return _described(function, replacement, incident=incident, kind=kind, **facts)

    return decorate


def around(
    *,
    incident: str,
    kind: Kind = "call",
    observers: Mapping[str, Any] | None = None,
    **facts: Any,
) -> Decorator:
    """Attention wrapped in the decorated function.

    It is called with the right attention and its arguments: attend, query, key,
    value, options. observers: further attributes, such as `backward`.
    """

    def decorate(wrapper: Callable[..., Array]) -> Attention:
        function = native(partial(wrapper, pipeline.attend))
        for name, value in (observers or {}).items():
            setattr(function, name, value)
        return _described(function, wrapper, incident=incident, kind=kind, **facts)

    return decorate


INPUTS = ("query", "key", "value")


def native(run: Callable[..., Any], arrays: tuple[str, ...] = INPUTS) -> Any:
    """`run` in the spelling of torch's `scaled_dot_product_attention`."""
    signature = spelled(arrays)

    def attend(*given: Any, **named: Any) -> Any:
        bound = signature.bind(*given, **named).arguments
        return run(*(bound.pop(name) for name in arrays), Options(**bound))

    attend.__signature__ = signature  # type: ignore[attr-defined]
    return attend


def differentiated(run: Callable[..., Any]) -> Any:
    """`run` in the same spelling, after the cotangent `dout`."""
    return native(run, ("dout", *INPUTS))


def spelled(arrays: tuple[str, ...]) -> Signature:
    """The arrays by place or by name, and then every option in its widely used spelling."""
    either = Parameter.POSITIONAL_OR_KEYWORD
    options = ((option.spellings[0], option.neutral) for option in PARAMETERS)
    return Signature(
        [
            *(Parameter(name, either) for name in arrays),
            *(Parameter(name, either, default=neutral) for name, neutral in options),
        ]
    )


def _described(function: Attention, source: Callable[..., Any], **facts: Any) -> Attention:
    return described(function, source, AttentionMistake, load=implementation, **facts)


def _observers(kind: Kind, steps: Steps) -> dict[str, Any]:
    """The functions beside the forward pass that a mistake of `kind` is about."""
    if kind == "gradient":
        return {
            "backward": differentiated(partial(pipeline.backward, steps=steps)),
            "bias_gradient": differentiated(partial(pipeline.bias_gradient, steps=steps)),
        }
    if kind == "training":
        return {"training": native(partial(pipeline.attend, steps=steps))}
    if kind in ("weights", "lse"):  # both, so that they can be held against each other
        observers = {"weights": pipeline.weights, "lse": pipeline.lse}
        return {name: native(partial(f, steps=steps)) for name, f in observers.items()}
    return {}
