"""A program that rotates by positions, put together from steps, one of them wrong."""

from collections.abc import Callable
from functools import partial
from typing import Any

from spec import mistake
from spec.notation import Array
from spec.positions.rotary.mistakes import steps
from spec.positions.rotary.mistakes.steps import Options


def program(steps: mistake.Steps) -> Callable[..., Any]:
    """An ordinary function that rotates, with a backward pass and a way to place q, k and v."""

    def meant(x: Array, positions: Array, base: float, width: int | None) -> Options:
        return Options(positions, base, x.shape[-1] if width is None else width)

    def turned(
        x: Array, positions: Array, base: float = 10000.0, width: int | None = None
    ) -> Array:
        return steps.rotate(x, meant(x, positions, base, width), steps)

    def backward(
        dout: Array, positions: Array, base: float = 10000.0, width: int | None = None
    ) -> Array:
        return steps.receive(dout, meant(dout, positions, base, width), steps)

    def placed(
        q: Array, k: Array, v: Array, positions: Array, base: float = 10000.0, width: Any = None
    ) -> tuple[Array, ...]:
        return steps.ready(q, k, v, lambda x: turned(x, positions, base, width))

    vars(turned).update(backward=backward, place=placed)
    return turned


wrong = partial(mistake.wrong, mistake.steps(steps), program)
