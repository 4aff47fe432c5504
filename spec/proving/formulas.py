"""The definition, run on formulas.

Every entry of q, k, v, dout and the bias is a symbol of its own. `spec.attention.definition` does
not know, and answers with formulas: what it is to its last line is differentiated and
compared, for all numbers, at the sizes of the arrays. The scale is a symbol too.

The largest score has no formula, and needs none: shifting the scores of a row by any
number changes nothing (`scores_have_no_origin`), so the maximum is taken to be 0. It
is there for floats, which overflow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from spec.notation import Array
from spec.proving.algebra import numerator
from spec.proving.exact import Exact
from spec.proving.theorem import flat

if TYPE_CHECKING:
    from sympy import Expr


def exponential(x: Any) -> Any:
    """exp(x), and 0 at -inf."""
    import sympy as sp

    return sp.S.Zero if x == -np.inf else sp.exp(x)


def logarithm(x: Any) -> Any:
    """log(x)."""
    import sympy as sp

    return sp.log(x)


def no_shift(*_: Any) -> int:
    """0, which serves as the maximum of any row."""
    return 0


class Formulas(Exact):
    """An array of formulas."""

    meaning: ClassVar[Mapping[np.ufunc, Callable[..., Any]]] = {
        np.exp: exponential,
        np.log: logarithm,
        np.maximum: no_shift,
    }


def symbols(name: str, *shape: int, **known: bool) -> Array:
    """An array of real symbols, of which more may be known: name_0, name_1, ..."""
    import sympy as sp

    entries = sp.symbols(f"{name}_:{int(np.prod(shape))}", real=True, **known)
    return np.array(entries, dtype=object).reshape(shape).view(Formulas)


def derivatives(x: Any, of: Array) -> Array:
    """dx / d of, for every entry of `of` that is a symbol; 0 for the others (a mask's -inf)."""
    import sympy as sp

    return np.frompyfunc(lambda y: sp.diff(x, y) if isinstance(y, sp.Symbol) else 0, 1, 1)(of)


def residual(one: Any, two: Any = 0) -> Array:
    """one - two, entry by entry, as numerators: zero if and only if the two are the same."""
    return np.frompyfunc(_numerator, 1, 1)(np.asarray(one - two, dtype=object))


def _numerator(x: Any) -> Expr:
    """The numerator of x, with one unknown for all exponentials of one exponent.

    Whether the exponent is written (a + b) c or a c + b c is no matter then.
    """
    import sympy as sp

    x = sp.sympify(x)
    exponents = {part: sp.expand(part.exp) for part in x.atoms(sp.exp)}
    unknowns = {exponent: sp.Dummy(positive=True) for exponent in exponents.values()}
    top = numerator(x.xreplace({part: unknowns[e] for part, e in exponents.items()}))
    return top.xreplace({unknown: sp.exp(e) for e, unknown in unknowns.items()})


def untrue_gradients(got: Iterable[Array], loss: Any, of: Iterable[Array]) -> Array:
    """The given gradients, less the derivatives of the loss by `of`."""
    return flat(residual(x, derivatives(loss, y)) for x, y in zip(got, of, strict=True))
