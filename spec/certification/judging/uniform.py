"""What Hypothesis draws from: uniform bytes that the seed alone decides.

Left to itself, Hypothesis now and then tries constants of the modules which are loaded and not
installed, and for that reads all of this package, or of the code that is judged, in each process
anew. That takes as long as many a clause; and what is judged should not choose its problems.
"""

from contextvars import ContextVar
from random import Random
from typing import Any, Never

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, PrimitiveProvider

BACKEND = "attention-spec"
SEED: ContextVar[int] = ContextVar("SEED")


class Uniform(PrimitiveProvider):
    """A backend in the sense of Hypothesis (its documentation, "Alternative backends").

    It draws bytes, as many as are asked for: the numbers that choices are made of (spec.choices).
    """

    def __init__(self, data: Any, /) -> None:
        super().__init__(data)
        self._random = Random(SEED.get())

    def draw_bytes(self, min_size: int = 0, max_size: int = 0) -> bytes:
        if min_size != max_size:
            raise ValueError("how many bytes there are is no choice")
        return self._random.randbytes(min_size)

    def _nothing_else(self, *_: Any, **__: Any) -> Never:
        raise NotImplementedError("bytes alone are drawn")

    draw_boolean = draw_integer = draw_float = draw_string = _nothing_else


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{Uniform.__name__}"
