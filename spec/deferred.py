"""Arrays that wait: evaluated where their numbers are first asked for, and not before.

A budget costs more than the two answers that it is for. Where these are the same, number by number,
they are within whatever it would have been, and nobody asks (`comparison.equal`): that is so of two
ways to write a mask, or of one head beside others, for most of those who compute in one order.
"""

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from spec.notation import Array, once


class Deferred(NDArrayOperatorsMixin):
    """An array that is evaluated when it is first asked for; what is made of it waits as well.

    Operators, ufuncs and indices wait. Whatever else is asked of an array is asked of the array.
    """

    def __init__(self, evaluate: Callable[[], Array]) -> None:
        self._evaluate = evaluate

    @once
    def array(self) -> Array:
        """Its numbers."""
        return np.asanyarray(self._evaluate())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        out = options.get("out", ())
        if method == "__call__" and all(isinstance(x, Deferred) for x in out):
            options.pop("out", None)  # nobody sees a change of what was never evaluated
            return Deferred(lambda: ufunc(*map(now, given), **options))
        return getattr(ufunc, method)(*map(now, given), **options)

    def __getitem__(self, index: Any) -> "Deferred":
        return Deferred(lambda: self.array[index])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what numpy, or who copies it, looks for: it has none of these
            raise AttributeError(name)
        return getattr(self.array, name)

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array)

    def __bool__(self) -> bool:
        return bool(self.array)

    def __float__(self) -> float:
        return float(self.array)


def deferred(evaluate: Callable[[], Array]) -> Array:
    """What an array is once it is evaluated, for whoever asks; and nothing before."""
    return cast(Array, Deferred(evaluate))


def now(x: Any) -> Any:
    """The array itself, if x is one that waits."""
    return x.array if isinstance(x, Deferred) else x
