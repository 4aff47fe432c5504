"""The record of an ordinary feed-forward network: a function, or a class of torch modules."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from spec.backends.calling import plugged, probing
from spec.backends.library import Library, Unsuitable
from spec.backends.results import read, refusing, watched, words
from spec.comparison import Violation
from spec.entries import bits_of_tf32, eighths
from spec.feed_forward.notation import FeedForward, Gradients, Problem
from spec.notation import Array, Call
from spec.subject import not_offered

INPUTS = Gradients._fields


def feed_forward(target: Callable[..., Any], **how: Any) -> FeedForward:
    """The record of a function of x, W1, b1, W2, b2, or of a class made from widths E and F.

    target: x (B, N, E), W1 (E, F), b1 (F), W2 (F, E), b2 (E) give y (B, N, E), in the dtype of
        x; `backward`, if any, takes dy (B, N, E) before them and gives five arrays shaped
        like them. A class makes modules of widths E and F that take x, and hold two
        torch.nn.Linear with biases, E to F and then F to E, to be given the weights. A call
        of eval() switches off all that is random; a function has no such switch.
    how: as `spec.backends.calling.plugged` has it.
    Raises Unsuitable, in one line: what cannot be called like this; layers of other shapes
        (got, want); an output of the wrong shape (got, want) or dtype on a probe.
    """
    arrays, facts = plugged(target, **how)
    title, is_class = facts["name"], isinstance(target, type)
    wrapped = Wrapped(_of_class(target) if is_class else _of_five(target, title), arrays)
    record = FeedForward(
        **facts,
        forward=wrapped.forward,
        backward=wrapped.gradients if wrapped.differentiable else not_offered,
        call=wrapped.watched,
    )
    with probing(f"{title} is no feed-forward network"):
        record.forward(core(record.dtypes[0]))
    return record


def core(dtype: str) -> Problem:
    """Three positions of width four, and five units."""
    shapes = [(2, 3, 4), (4, 5), (5,), (5, 4), (4,), (2, 3, 4)]
    return Problem(*(eighths(*shape, seed=i) for i, shape in enumerate(shapes)), dtype=dtype)


def telling(_: str) -> Mapping[str, tuple[Problem, ...]]:
    """Positions of numbers that TF32 makes others, and that fewer bits do; in float32."""
    plain = core("float32")
    ones = {name: np.ones_like(getattr(plain, name)) for name in ("W1", "W2")}
    return {"products": tuple(plain.but(x=x, **ones) for x in bits_of_tf32(plain.x))}


def _of_five(function: Callable[..., Any], title: str) -> Callable[..., Any]:
    """The function, if it can be called with five arrays. Raises Unsuitable."""
    try:
        inspect.signature(function).bind(*INPUTS)
    except TypeError as error:
        raise Unsuitable(f"{title} cannot be called with x, W1, b1, W2, b2: {error}") from None
    return function


def _of_class(make: Callable[[int, int], Any]) -> Callable[..., Any]:
    """A class of torch modules as a function of its weights, which autograd sees through."""
    import torch

    @cache
    def made(E: int, F: int) -> tuple[Any, str, str]:
        module = make(E, F).eval()
        linear = {n: m for n, m in module.named_modules() if isinstance(m, torch.nn.Linear)}
        if len(linear) != 2 or any(m.bias is None for m in linear.values()):
            found = f"{len(linear)} linear layers"
            raise Unsuitable(f"{make.__name__} has {found}, want two, each with a bias")
        (first, one), (second, two) = linear.items()
        shapes = [tuple(m.weight.shape) for m in (one, two)]
        if shapes != [(F, E), (E, F)]:
            raise Unsuitable(
                f"{make.__name__}({E}, {F}): got weights {shapes}, want {[(F, E), (E, F)]}"
            )
        return module, first, second

    def function(x: Any, W1: Any, b1: Any, W2: Any, b2: Any) -> Any:
        module, first, second = made(*W1.shape)
        state = {f"{first}.weight": W1.T, f"{first}.bias": b1}
        state |= {f"{second}.weight": W2.T, f"{second}.bias": b2}
        return torch.func.functional_call(module.to(x.dtype), state, (x,))

    return function


@dataclass(frozen=True)
class Wrapped:
    """A function of five arrays, and the library whose arrays it takes."""

    function: Callable[..., Any]
    library: Library

    @property
    def differentiable(self) -> bool:
        """Whether there are gradients: given, or the library's own."""
        return self.library.differentiate is not None or callable(self._given)

    @property
    def _given(self) -> Any:
        return getattr(self.function, "backward", None)

    def forward(self, problem: Problem) -> Array:
        """The output (B, N, E). Raises Violation or Refused."""
        with self.library.quiet(problem.dtype), refusing():
            return self._read(self.function(*self._arrays(problem)), problem, "x", "the output")

    def watched(self, problem: Problem) -> Call:
        """The forward pass, and what it did to its inputs and their memory."""
        with self.library.quiet(problem.dtype), refusing():
            placed = {name: self._put(problem, name) for name in INPUTS}
            views = [view for _, view in placed.values()]
            return watched(
                self.library,
                {name: buffer for name, (buffer, _) in placed.items()},
                lambda: self.function(*views),
                lambda result: self._read(result, problem, "x", "the output"),
            )

    def gradients(self, problem: Problem) -> Gradients:
        """All five. Raises Violation or Refused."""
        with self.library.quiet(problem.dtype), refusing():
            arrays, dy = self._arrays(problem), self._put(problem, "dy")[1]
            if callable(self._given):
                found = self._given(dy, *arrays)
            else:
                found = self.library.gradients(self.function, arrays, dy)
            if not isinstance(found, tuple | list) or len(found) != len(INPUTS):
                raise Violation(f"backward returned {words(found)}, want dx, dW1, db1, dW2, db2")
            pairs = zip(INPUTS, found, strict=True)
            return Gradients(*(self._read(dx, problem, n, f"d{n}") for n, dx in pairs))

    def _arrays(self, problem: Problem) -> list[Any]:
        return [self._put(problem, name)[1] for name in INPUTS]

    def _put(self, problem: Problem, name: str) -> tuple[Any, Any]:
        return self.library.placed(getattr(problem, name), problem.dtype)

    def _read(self, result: Any, problem: Problem, like: str, what: str) -> Array:
        """The numbers of a result, once it is known to have the shape of the array `like`."""
        return read(self.library, result, getattr(problem, like).shape, problem.dtype, what)
