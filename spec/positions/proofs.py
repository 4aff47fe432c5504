"""Proofs of what positions do, one pair of columns at a time.

A row is a list of pairs, and each identity is a sum over them of one about a single
pair, whose angle is any number; so one pair is enough. cos a and sin a are written as
(1 - t^2) / (1 + t^2) and 2 t / (1 + t^2), which makes every identity a rational one, and
those are zero if and only if their numerators are (`spec.proving.algebra`).
"""

from typing import Any

from spec.proving.algebra import numbers, numerator
from spec.proving.theorem import proved_at

PAIR = "1 pair of columns, any angles"


def hand(t: Any) -> tuple[Any, Any]:
    """cos a and sin a, for t = tan(a / 2)."""
    return (1 - t * t) / (1 + t * t), 2 * t / (1 + t * t)


def turn(by: tuple[Any, Any], pair: tuple[Any, Any]) -> tuple[Any, Any]:
    """R(a) (x, y) = (x cos a - y sin a, x sin a + y cos a), for by = (cos a, sin a)."""
    (c, s), (x, y) = by, pair
    return x * c - y * s, x * s + y * c


def back(by: tuple[Any, Any]) -> tuple[Any, Any]:
    """cos and sin of the opposite angle."""
    return by[0], -by[1]


def product(one: tuple[Any, Any], two: tuple[Any, Any]) -> Any:
    """The inner product of two pairs."""
    return one[0] * two[0] + one[1] * two[1]


def zeros(one: tuple[Any, ...], two: tuple[Any, ...]) -> list[Any]:
    """one - two, as numerators."""
    return [numerator(x - y) for x, y in zip(one, two, strict=True)]


@proved_at(PAIR, length=2)
def a_hand_has_length_one(length: int = 1) -> Any:
    """sin^2 + cos^2 = 1. Control: two."""
    c, s = hand(*numbers("t"))
    return numerator(c * c + s * s - length)


@proved_at(PAIR, wrong=True)
def moving_on_is_a_turn(wrong: bool = False) -> Any:
    """(cos(a + b), sin(a + b)) = R(b) (cos a, sin a). Control: turned back."""
    import sympy as sp

    a, b = numbers("a b")
    together = [sp.expand_trig(f(a + b)) for f in (sp.cos, sp.sin)]
    by = (sp.cos(b), sp.sin(b))
    moved = turn(back(by) if wrong else by, (sp.cos(a), sp.sin(a)))
    return [sp.expand(x - y) for x, y in zip(together, moved, strict=True)]


@proved_at(PAIR, wrong=True)
def likeness_depends_on_distance(wrong: bool = False) -> Any:
    """<R(k) PE(p), R(k) PE(q)> = <PE(p), PE(q)>. Control: only one of the two is moved."""
    p, q, k = (hand(t) for t in numbers("p q k"))
    moved = q if wrong else turn(k, q)
    return numerator(product(turn(k, p), moved) - product(p, q))


@proved_at(PAIR, wrong=True)
def turning_keeps_lengths(wrong: bool = False) -> Any:
    """|R(a) x| = |x|. Control: a sign is missing."""
    c, s = hand(*numbers("t"))
    x, y = numbers("x y")
    one, two = turn((c, s), (x, y))
    one = x * c + y * s if wrong else one
    return numerator(one * one + two * two - x * x - y * y)


@proved_at(PAIR, wrong=True)
def turns_add_up(wrong: bool = False) -> Any:
    """R(b) R(a) x = R(a + b) x. Control: the second goes back."""
    a, b = (hand(t) for t in numbers("a b"))
    x, y = numbers("x y")
    both = turn(b, a)  # the cosine and the sine of a + b, by `moving_on_is_a_turn`
    return zeros(turn(back(b) if wrong else b, turn(a, (x, y))), turn(both, (x, y)))


@proved_at(PAIR, wrong=True)
def scores_depend_on_the_difference(wrong: bool = False) -> Any:
    """<R(p) q, R(j) k> = <R(p - j) q, k>. Control: the sum instead of the difference."""
    p, j = (hand(t) for t in numbers("p j"))
    (q0, q1), (k0, k1) = numbers("q0 q1"), numbers("k0 k1")
    apart = turn(p, j if wrong else back(j))
    left = product(turn(p, (q0, q1)), turn(j, (k0, k1)))
    return numerator(left - product(turn(apart, (q0, q1)), (k0, k1)))


@proved_at(PAIR, wrong=True)
def the_gradient_is_the_turn_back(wrong: bool = False) -> Any:
    """The derivative of <g, R(a) x> by x is R(-a) g. Control: turned on."""
    import sympy as sp

    a = hand(*numbers("t"))
    x, g = numbers("x0 x1"), numbers("g0 g1")
    loss = product((g[0], g[1]), turn(a, (x[0], x[1])))
    found = tuple(sp.diff(loss, entry) for entry in x)
    return zeros(found, turn(a if wrong else back(a), (g[0], g[1])))


@proved_at("any ratio, and 1 to 6 keys", wrong=True)
def weights_are_geometric(wrong: bool = False) -> Any:
    """r^(i-j) / sum_k r^(i-k) = r^(i-j) (1 - r) / (1 - r^(i+1)). Control: one key fewer."""
    (r,) = numbers("r")
    return [
        numerator(
            r ** (i - j) / sum(r ** (i - k) for k in range(i + 1))
            - r ** (i - j) * (1 - r) / (1 - r ** (i + (0 if wrong and i else 1)))
        )
        for i in range(6)
        for j in range(i + 1)
    ]
