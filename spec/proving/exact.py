"""Arithmetic without rounding: the definition, run on fractions or on formulas.

`spec.attention.definition` is written for floats, but says nothing that needs them. Here are
arrays of exact numbers that run through its very code, so that what is proved or
checked in `spec.attention.proofs` is about the definition and not about a copy of it.

Fractions are closed under all of attention but the exponential. In base 2 they
are closed under that too, as long as the scores are integers: 2^s is rational, and so
are the weights, the output and the gradients. Base 2 is no other kind of attention:
2^s = exp(s log 2), so it is the definition with every score multiplied by log 2. A law that
holds for all scores holds for those; and a gradient loses a factor log 2, which a
homogeneous identity does not notice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from spec.notation import Array


class Exact(np.ndarray[Any, Any]):
    """An array of Python objects that stays one, and stays exact, whatever NumPy does to it.

    `meaning` tells what a function of NumPy does to an element, where Python's own
    arithmetic does not. Floats that come along are taken for the fractions that they are.
    """

    meaning: ClassVar[Mapping[np.ufunc, Callable[..., Any]]] = {}

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        told = self.meaning.get(ufunc)
        function = ufunc if told is None else np.frompyfunc(told, ufunc.nin, 1)
        return self._again(getattr(function, method)(*map(_bare, inputs), **options))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function is np.isneginf:
            return np.equal(_bare(args[0]), -np.inf)
        return self._again(super().__array_function__(function, types, args, options))

    def _again(self, result: Any) -> Any:
        """The result in this kind of array; truth values stay what they are."""
        is_exact = isinstance(result, np.ndarray) and result.dtype == object
        return result.view(type(self)) if is_exact else result


def _bare(x: Any) -> Any:
    """An operand without its class, and with a fraction for every finite float."""
    if isinstance(x, float | np.floating):
        return _fraction(x)
    if isinstance(x, np.ndarray):
        x = np.asarray(x)
        return np.frompyfunc(_fraction, 1, 1)(x) if x.dtype.kind == "f" else x
    return x


def _fraction(x: float | np.floating) -> Fraction | float:
    return Fraction(float(x)) if np.isfinite(x) else float(x)


@dataclass(frozen=True)
class Logarithm:
    """log2 of a fraction, kept as that fraction: x ± log2(y) = log2(2^x y^±1)."""

    of: Fraction

    def __radd__(self, x: Any) -> Logarithm:
        return Logarithm(power_of_two(x) * self.of)

    def __rsub__(self, x: Any) -> Logarithm:
        return Logarithm(power_of_two(x) / self.of)


def power_of_two(x: Any) -> Fraction:
    """2^x where it is rational: for an integer, for -inf, and for a logarithm."""
    if isinstance(x, Logarithm):
        return x.of
    if x == -np.inf:
        return Fraction(0)
    exponent = Fraction(x)
    if exponent.denominator != 1:
        raise ValueError(f"2^({exponent}) is not rational: exact scores are integers")
    return Fraction(2) ** exponent.numerator


class Rationals(Exact):
    """Fractions, with the exponential and the logarithm of base 2."""

    meaning: ClassVar[Mapping[np.ufunc, Callable[..., Any]]] = {
        np.exp: power_of_two,
        np.log: Logarithm,
    }


def fractions(numbers: ArrayLike) -> Array:
    """The same numbers, as an array of fractions."""
    return np.asarray(np.frompyfunc(Fraction, 1, 1)(numbers), dtype=object).view(Rationals)
