"""How a formula is recognised as zero, without a simplifier that might oblige.

Exponentials and sums over the keys are replaced by unknowns. The result is a rational
function, and that is zero if and only if the expanded numerator over a common denominator
is. Forgetting what the unknowns stand for is safe: what is zero for all unknowns is
zero for those.

SymPy takes half a second to import, and a certificate must not wait for proofs that it
does not run: here and in every theorem it is imported by the function that needs it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sympy import Expr


def key(name: str = "j") -> Expr:
    """j, the index of a key."""
    import sympy as sp

    return sp.Symbol(name, integer=True)


def per_key(names: str, block: str = "") -> list[Expr]:
    """Real numbers that depend on the key: for "s g", s_j and g_j."""
    import sympy as sp

    return [sp.IndexedBase(name + block, real=True)[key()] for name in names.split()]


def numbers(names: str) -> list[Expr]:
    """Real numbers that are the same for every key."""
    import sympy as sp

    return [sp.Symbol(name, real=True) for name in names.split()]


def over_keys(term: Any, index: str = "j", count: str = "M") -> Expr:
    """sum_j term, over any number of keys."""
    import sympy as sp

    return sp.Sum(term, (key(index), 1, sp.Symbol(count, integer=True, positive=True)))


def derivative(curve: Expr, t: Expr) -> Expr:
    """The derivative at t = 0: for x + t h, that in the direction of h."""
    return curve.diff(t).subs(t, 0)


def linear(x: Any) -> Expr:
    """Every sum split over its terms, with the factors that are the same for every key outside."""
    import sympy as sp

    def split(total: Expr) -> Expr:
        term, *limits = total.args
        for limit in limits:
            terms = sp.Add.make_args(sp.expand(term))
            parts = [part.as_independent(limit[0], as_Add=False) for part in terms]
            term = sp.Add(*(outside * _named(sp.Sum(inside, limit)) for outside, inside in parts))
        return term

    x = sp.expand_power_exp(sp.sympify(x))
    return x.replace(lambda part: isinstance(part, sp.Sum), split)


def _named(total: Expr) -> Expr:
    """The same sum with j for its index, where j is not in use inside: equal sums look alike."""
    import sympy as sp

    term, (index, first, last) = total.args
    return total if term.has(key()) else sp.Sum(term.subs(index, key()), (key(), first, last))


def numerator(x: Any) -> Expr:
    """The expanded numerator of x over a common denominator: zero if and only if x is."""
    import sympy as sp

    x = linear(x)
    unknowns = {part: sp.Dummy(positive=True) for part in x.atoms(sp.Sum, sp.exp)}
    top, _ = sp.fraction(sp.together(x.xreplace(unknowns)))
    return sp.expand(top).xreplace({unknown: part for part, unknown in unknowns.items()})
