"""What Hypothesis draws from: uniform choices that the seed alone decides.

Left to itself, Hypothesis prefers the ends of a range, and tries constants that it finds in the
modules which are loaded and are not installed. A problem would then depend on how this package
was installed and on the very code that is judged: once a fault is mended, the seed that showed
it would draw other problems. It would also read all of that code anew for each certificate.

Domains say themselves what is worth trying, so that here a choice among n is a fair one.
"""

from contextvars import ContextVar
from random import Random
from typing import Any, Never

from hypothesis.internal.conjecture.providers import AVAILABLE_PROVIDERS, PrimitiveProvider

BACKEND = "attention-spec"
SEED: ContextVar[int] = ContextVar("SEED")


class Choices(PrimitiveProvider):
    """A backend in the sense of Hypothesis (its documentation, "Alternative backends").

    It makes the choices that domains are made of: of items, of integers in a range, of bytes.
    Entries come from a seed or from bytes (spec.entries), never from floats or text.
    """

    def __init__(self, data: Any, /) -> None:
        super().__init__(data)
        self._random = Random(SEED.get())

    def draw_boolean(self, p: float = 0.5) -> bool:
        return self._random.random() < p

    def draw_integer(
        self, min_value: int | None = None, max_value: int | None = None, **_: Any
    ) -> int:
        if min_value is None or max_value is None:
            raise ValueError("a domain draws its integers from a range with two ends")
        return self._random.randint(min_value, max_value)

    def draw_bytes(self, min_size: int = 0, max_size: int = 0) -> bytes:
        return self._random.randbytes(self._random.randint(min_size, max_size))

    def draw_float(self, **_: Any) -> Never:
        raise NotImplementedError("a domain draws no floats")

    def draw_string(self, *_: Any, **__: Any) -> Never:
        raise NotImplementedError("a domain draws no text")


AVAILABLE_PROVIDERS[BACKEND] = f"{__name__}.{Choices.__name__}"
