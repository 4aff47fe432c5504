"""Attention in base 2, in exact fractions, one number at a time.

    a_ij = 2^s_ij / (2^t_h + sum_j 2^s_ij)

With integer scores, sinks and slopes this is rational. Plain loops over fractions compute it, and
share no line with `spec.attention.definition`. `spec.proving.exact` runs the definition in the same
arithmetic, and the results must be equal, not only close.

This is not an implementation of attention in base e, and not a record that a clause could test. It
equals attention in base e for a problem whose scores are multiplied by log 2. The gradients are
those with respect to the scores of the problem, divided by log 2, because the derivative of 2^s by
s is 2^s log 2. They are derived the long way, through every entry of the Jacobian of the weights,
da_il / ds_ij = a_il ([l = j] - a_ij), in which a sink is one more j.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from spec.attention.notation import Gradients, Problem
from spec.notation import Array

Row = list[Fraction]


def weights(problem: Problem) -> Array:
    """Return a_ij, zero for masked keys and fully masked queries.   (B, H, N, M)"""
    a = zeros(problem.B, problem.H, problem.N, problem.M)
    for b, h, i in rows(problem):
        powers = [power(problem, b, h, i, j) for j in range(problem.M)]
        total = sum(powers) + sink(problem, h)
        for j, x in enumerate(powers):
            a[b, h, i, j] = x / total if total else Fraction(0)
    return a


def attention(problem: Problem) -> Array:
    """Return o_ic = sum_j a_ij v_jc.   (B, H, N, E)"""
    a, o = weights(problem), zeros(*problem.dout.shape)
    for b, h, i in rows(problem):
        for j, c in product(range(problem.M), range(problem.E)):
            o[b, h, i, c] += a[b, h, i, j] * problem.v[b, key_head(problem, h), j, c]
    return o


def gradients(problem: Problem) -> Gradients:
    """Return the gradients of <dout, o> + <dlse, lse>, all but that of v divided by log 2."""
    a, ds = weights(problem), zeros(problem.B, problem.H, problem.N, problem.M)
    dq, dk, dv = (zeros(*x.shape) for x in (problem.q, problem.k, problem.v))
    scale = Fraction(problem.sigma)
    for b, h, i in rows(problem):
        g = key_head(problem, h)
        row, da = list(a[b, h, i]), through_the_values(problem, b, h, i)
        for j in range(problem.M):
            ds[b, h, i, j] = through_the_weights(row, da, j) + row[j] * cotangent(problem, b, h, i)
            for d in range(problem.D):
                dq[b, h, i, d] += scale * ds[b, h, i, j] * problem.k[b, g, j, d]
                dk[b, g, j, d] += scale * ds[b, h, i, j] * problem.q[b, h, i, d]
            for c in range(problem.E):
                dv[b, g, j, c] += row[j] * problem.dout[b, h, i, c]
    sinks = None if problem.sinks is None else sink_gradients(problem)
    slopes = None if problem.slopes is None else slope_gradients(problem, ds)
    return Gradients(dq, dk, dv, ds, sinks, slopes)


def sink_gradients(problem: Problem) -> Array:
    """Return dt_h = sum_i a_i (dlse_i - sum_l da_il a_il), a_i the weight of the sink.   (H,)"""
    a, dt = weights(problem), zeros(problem.H)
    for b, h, i in rows(problem):
        taken = 1 - sum(a[b, h, i]) if sink(problem, h) else Fraction(0)
        da = through_the_values(problem, b, h, i)
        dt[h] -= sum((da[m] * a[b, h, i, m] * taken for m in range(problem.M)), Fraction(0))
        dt[h] += taken * cotangent(problem, b, h, i)
    return dt


def slope_gradients(problem: Problem, ds: Array) -> Array:
    """Return dm_h = -sum_ij ds_ij |p - r|, summed over the batch if shared.   (H,) or (B, H)"""
    dm = zeros(*np.asarray(problem.slopes).shape)
    for b, h, i in rows(problem):
        at = (b, h)[-dm.ndim :]
        for j in range(problem.M):
            dm[at] -= ds[b, h, i, j] * away(problem, b, i, j)
    return dm


def through_the_values(problem: Problem, b: int, h: int, i: int) -> Row:
    """Return dL / da_il = <dout_i, v_l>, for every key l."""
    value, g = problem.v, key_head(problem, h)
    columns = range(problem.E)
    return [
        Fraction(sum(problem.dout[b, h, i, c] * value[b, g, l, c] for c in columns))
        for l in range(problem.M)  # noqa: E741
    ]


def through_the_weights(a: Row, da: Row, j: int) -> Fraction:
    """Return dL / ds_ij = sum_l da_l a_l ([l = j] - a_j)."""
    return sum((da[m] * a[m] * ((m == j) - a[j]) for m in range(len(a))), Fraction(0))


def cotangent(problem: Problem, b: int, h: int, i: int) -> Fraction:
    """Return dlse_i, or 0 without one; the derivatives of the log-sum-exp are the weights."""
    return Fraction(0) if problem.dlse is None else Fraction(float(problem.dlse[b, h, i]))


def power(problem: Problem, b: int, h: int, i: int, j: int) -> Fraction:
    """Return 2^s_ij, and 0 if key j is masked for query i."""
    if hidden(problem, b, i, j) or apart(problem, b, i, j):
        return Fraction(0)
    bias = Fraction(0)
    if problem.slopes is not None:
        m = np.broadcast_to(problem.slopes, (problem.B, problem.H))[b, h]
        bias -= Fraction(float(m)) * away(problem, b, i, j)
    if problem.mask is not None:
        whole = np.broadcast_to(problem.mask, (problem.B, problem.H, problem.N, problem.M))
        entry = whole[b, h, i, j]
        if entry == (False if problem.mask.dtype == bool else -np.inf):
            return Fraction(0)
        bias += Fraction(0) if problem.mask.dtype == bool else Fraction(float(entry))
    q, k = problem.q[b, h, i], problem.k[b, key_head(problem, h), j]
    products = sum((x * y for x, y in zip(q, k, strict=True)), Fraction(0))
    return power_of_two(Fraction(problem.sigma) * products + bias)


def sink(problem: Problem, h: int) -> Fraction:
    """Return 2^t_h, and 0 without a sink."""
    if problem.sinks is None or problem.sinks[h] == -np.inf:
        return Fraction(0)
    return power_of_two(Fraction(problem.sinks[h]))


def power_of_two(score: Fraction) -> Fraction:
    """Return 2^s for an integer s. Raises ValueError if it is not an integer."""
    if score.denominator != 1:
        raise ValueError(f"2^({score}) is not rational: exact scores are integers")
    return Fraction(2) ** score.numerator


def hidden(problem: Problem, b: int, i: int, j: int) -> bool:
    """Return whether causality or the window masks key j for query i, each with its alignment."""
    places, key = places_of(problem, b, i), place_of(problem, b, j)
    left, right = problem.window
    own = places[problem.window_corner or problem.corner]
    future = problem.causal and key > places[problem.corner]
    before = left is not None and key < own - left and not 0 < problem.first > key
    return future or before or (right is not None and key > own + right)


def apart(problem: Problem, b: int, i: int, j: int) -> bool:
    """Return whether a query and a key have different segments, or a negative one."""
    if problem.query_segments is None or problem.key_segments is None:
        return False
    mine, other = problem.query_segments[b, i], problem.key_segments[b, j]
    return bool(mine != other or mine < 0)


def places_of(problem: Problem, b: int, i: int) -> dict[str, int]:
    """Return the position of query i for each alignment: given, or counted in its sequence."""
    if problem.query_positions is not None:
        return dict.fromkeys(("top-left", "bottom-right"), int(problem.query_positions[b, i]))
    i, queries, keys = in_text(problem, b, i)
    moved = 0 if problem.key_positions is not None else keys - queries
    return {"top-left": i, "bottom-right": i + moved}


def in_text(problem: Problem, b: int, i: int) -> tuple[int, int, int]:
    """Return the number of query i, the number of queries, and the number of keys.

    If positions restart, these are counted in the sequence of the query.
    """
    mine, theirs = problem.query_segments, problem.key_segments
    if mine is None or theirs is None or not problem.restarts:
        return i, problem.N, problem.M
    own = mine[b, i]
    before, queries, keys = (int((x == own).sum()) for x in (mine[b, :i], mine[b], theirs[b]))
    return before, queries, keys


def place_of(problem: Problem, b: int, j: int) -> int:
    """Return the position of key j: given, or counted in its sequence."""
    if problem.key_positions is not None:
        return int(problem.key_positions[b, j])
    if problem.key_segments is None or not problem.restarts:
        return j
    return int((problem.key_segments[b, :j] == problem.key_segments[b, j]).sum())


def away(problem: Problem, b: int, i: int, j: int) -> int:
    """Return the distance of key j from query i; if signed, how far it is behind the query."""
    own = places_of(problem, b, i)[problem.slopes_corner or problem.corner]
    behind = own - place_of(problem, b, j)
    return behind if problem.signed_slopes else abs(behind)


def rows(problem: Problem) -> Iterator[tuple[int, int, int]]:
    """Return every query: (batch element, head, row)."""
    return product(range(problem.B), range(problem.H), range(problem.N))


def key_head(problem: Problem, head: int) -> int:
    """Return the key head that a query head reads, with blocks of H / G."""
    return head // (problem.H // problem.G)


def zeros(*shape: int) -> Array:
    """Return an array of the fraction 0."""
    array = np.empty(shape, dtype=object)
    array.fill(Fraction(0))
    return array
