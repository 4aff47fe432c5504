"""A program that rotates by positions, built from steps of which one is wrong."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np

from spec import mistake
from spec.notation import Array
from spec.positions.rotary.mistakes import steps
from spec.positions.rotary.mistakes.steps import Options


def program(steps: mistake.Steps) -> Callable[..., Any]:
    """An ordinary function that rotates, with `backward`, and with `place` for q, k and v."""

    def meant(
        x: Array, positions: Array, base: float = 10000.0, width: int | None = None
    ) -> Options:
        columns, number = x.shape[-1], np.result_type(x.dtype, np.float32).type
        return Options(positions, base, columns if width is None else width, columns, number)

    @wraps(meant)
    def turned(x: Array, positions: Array, **asked: Any) -> Array:
        return steps.rotate(x, meant(x, positions, **asked), steps)

    def backward(dout: Array, **asked: Any) -> Array:
        return steps.receive(dout, meant(dout, **asked), steps)

    def placed(q: Array, k: Array, v: Array, **asked: Any) -> tuple[Array, ...]:
        return steps.ready(q, k, v, lambda x: turned(x, **asked))

    vars(turned).update(backward=backward, place=placed)
    return turned


wrong = partial(mistake.wrong, mistake.steps(steps), program)
