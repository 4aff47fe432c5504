"""Arrays that are evaluated only when their numbers are first used.

An error bound costs more than the two results that it is for. If these are equal, number by number,
they are within any bound, and `comparison.equal` does not evaluate it. That is the usual case for
two forms of a mask, or for a head alone and among others, if both are computed in the same order.
"""

from collections.abc import Callable, Iterator
from typing import Any, cast

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from spec.notation import Array, once


class Deferred(NDArrayOperatorsMixin):
    """An array that is evaluated on first use; what is computed from it is deferred as well.

    Operators, ufuncs and indexing are deferred. Any other attribute is that of the evaluated array.
    """

    def __init__(self, evaluate: Callable[[], Array]) -> None:
        self._evaluate = evaluate

    @once
    def array(self) -> Array:
        """The evaluated array."""
        return np.asanyarray(self._evaluate())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.array, dtype=dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> Any:
        out = options.get("out", ())
        if method == "__call__" and all(isinstance(x, Deferred) for x in out):
            options.pop("out", None)  # the new array takes the place of `out`
            return Deferred(lambda: ufunc(*map(now, given), **options))
        return getattr(ufunc, method)(*map(now, given), **options)

    def __getitem__(self, index: Any) -> "Deferred":
        return Deferred(lambda: self.array[index])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # numpy and copy look for such methods; it has none
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
    """An array that is evaluated on first use, and not before."""
    return cast(Array, Deferred(evaluate))


def now(x: Any) -> Any:
    """x, or the evaluated array if x is deferred."""
    return x.array if isinstance(x, Deferred) else x
