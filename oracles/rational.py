"""Attention in base 2, in exact fractions, one number at a time.

    a_ij = 2^s_ij / (2^t_h + sum_j 2^s_ij)

With integer scores, sinks and slopes this is rational, and here it is evaluated by plain loops over
fractions that share no line with `spec.attention.definition`, which `spec.proving.exact` runs
in the same arithmetic: the two have to be equal, not close.

This is no implementation of attention in base e, and not a record that a clause could
judge; it is the base e attention of a problem whose scores are multiplied by log 2. The
gradients are those by the scores of the problem, divided by log 2: a derivative by s
of 2^s is 2^s log 2. They are derived the long way, through every entry of the Jacobian
of the weights, da_il / ds_ij = a_il ([l = j] - a_ij), in which a sink is one more j.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import numpy as np

from spec.attention.notation import Gradients, Problem
from spec.notation import Array

Row = list[Fraction]


def weights(problem: Problem) -> Array:
    """a_ij, zero where a key is forbidden and where a query is idle.   (B, H, N, M)"""
    a = zeros(problem.B, problem.H, problem.N, problem.M)
    for b, h, i in rows(problem):
        powers = [power(problem, b, h, i, j) for j in range(problem.M)]
        total = sum(powers) + sink(problem, h)
        for j, x in enumerate(powers):
            a[b, h, i, j] = x / total if total else Fraction(0)
    return a


def attention(problem: Problem) -> Array:
    """o_ic = sum_j a_ij v_jc.   (B, H, N, E)"""
    a, o = weights(problem), zeros(*problem.dout.shape)
    for b, h, i in rows(problem):
        for j, c in product(range(problem.M), range(problem.E)):
            o[b, h, i, c] += a[b, h, i, j] * problem.v[b, key_head(problem, h), j, c]
    return o


def gradients(problem: Problem) -> Gradients:
    """The derivatives of <dout, o> + <dlse, lse>, divided by log 2 but for that by v."""
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
    """dL / dt_h = sum_i a_i (dlse_i - sum_l da_il a_il), with the part a_i of the sink.   (H,)"""
    a, dt = weights(problem), zeros(problem.H)
    for b, h, i in rows(problem):
        taken = 1 - sum(a[b, h, i]) if sink(problem, h) else Fraction(0)
        da = through_the_values(problem, b, h, i)
        dt[h] -= sum((da[m] * a[b, h, i, m] * taken for m in range(problem.M)), Fraction(0))
        dt[h] += taken * cotangent(problem, b, h, i)
    return dt


def slope_gradients(problem: Problem, ds: Array) -> Array:
    """dL / dm_h = -sum_ij ds_ij |p - r|, over the batch too if it shares them.   (H,) or (B, H)"""
    dm = zeros(*np.asarray(problem.slopes).shape)
    for b, h, i in rows(problem):
        at = (b, h)[-dm.ndim :]
        for j in range(problem.M):
            dm[at] -= ds[b, h, i, j] * away(problem, b, i, j)
    return dm


def through_the_values(problem: Problem, b: int, h: int, i: int) -> Row:
    """dL / da_il = <dout_i, v_l>, for every key l."""
    value, g = problem.v, key_head(problem, h)
    columns = range(problem.E)
    return [
        Fraction(sum(problem.dout[b, h, i, c] * value[b, g, l, c] for c in columns))
        for l in range(problem.M)  # noqa: E741
    ]


def through_the_weights(a: Row, da: Row, j: int) -> Fraction:
    """dL / ds_ij = sum_l da_l a_l ([l = j] - a_j)."""
    return sum((da[m] * a[m] * ((m == j) - a[j]) for m in range(len(a))), Fraction(0))


def cotangent(problem: Problem, b: int, h: int, i: int) -> Fraction:
    """dlse_i, 0 where there is none: the log-sum-exp has the weights for its derivatives."""
    return Fraction(0) if problem.dlse is None else Fraction(float(problem.dlse[b, h, i]))


def power(problem: Problem, b: int, h: int, i: int, j: int) -> Fraction:
    """2^s_ij, and 0 where key j is forbidden to query i."""
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
    """2^t_h, and 0 where there is no sink."""
    if problem.sinks is None or problem.sinks[h] == -np.inf:
        return Fraction(0)
    return power_of_two(Fraction(problem.sinks[h]))


def power_of_two(score: Fraction) -> Fraction:
    """2^s of an integer. Raises ValueError: it is none."""
    if score.denominator != 1:
        raise ValueError(f"2^({score}) is not rational: exact scores are integers")
    return Fraction(2) ** score.numerator


def hidden(problem: Problem, b: int, i: int, j: int) -> bool:
    """Whether causality or the window hides key j from query i, each from its own corner."""
    places, key = places_of(problem, b, i), place_of(problem, b, j)
    left, right = problem.window
    own = places[problem.window_corner or problem.corner]
    future = problem.causal and key > places[problem.corner]
    before = left is not None and key < own - left and not 0 < problem.first > key
    return future or before or (right is not None and key > own + right)


def apart(problem: Problem, b: int, i: int, j: int) -> bool:
    """Whether a query and a key are of two texts, or of none."""
    if problem.query_segments is None or problem.key_segments is None:
        return False
    mine, other = problem.query_segments[b, i], problem.key_segments[b, j]
    return bool(mine != other or mine < 0)


def places_of(problem: Problem, b: int, i: int) -> dict[str, int]:
    """The place of query i, by each corner: the one that is given, or that in the keys' text."""
    if problem.query_positions is not None:
        return dict.fromkeys(("top-left", "bottom-right"), int(problem.query_positions[b, i]))
    i, queries, keys = in_text(problem, b, i)
    moved = 0 if problem.key_positions is not None else keys - queries
    return {"top-left": i, "bottom-right": i + moved}


def in_text(problem: Problem, b: int, i: int) -> tuple[int, int, int]:
    """The number of query i, of how many, and of how many keys: in its text where these count."""
    mine, theirs = problem.query_segments, problem.key_segments
    if mine is None or theirs is None or not problem.restarts:
        return i, problem.N, problem.M
    own = mine[b, i]
    before, queries, keys = (int((x == own).sum()) for x in (mine[b, :i], mine[b], theirs[b]))
    return before, queries, keys


def place_of(problem: Problem, b: int, j: int) -> int:
    """The place of key j: the one that is given, or its number."""
    if problem.key_positions is not None:
        return int(problem.key_positions[b, j])
    if problem.key_segments is None or not problem.restarts:
        return j
    return int((problem.key_segments[b, :j] == problem.key_segments[b, j]).sum())


def away(problem: Problem, b: int, i: int, j: int) -> int:
    """How far key j lies from query i; signed, how far behind it."""
    own = places_of(problem, b, i)[problem.slopes_corner or problem.corner]
    behind = own - place_of(problem, b, j)
    return behind if problem.signed_slopes else abs(behind)


def rows(problem: Problem) -> Iterator[tuple[int, int, int]]:
    """Every query: (batch, head, position)."""
    return product(range(problem.B), range(problem.H), range(problem.N))


def key_head(problem: Problem, head: int) -> int:
    """The key head that a query head reads: blocks of H / G."""
    return head // (problem.H // problem.G)


def zeros(*shape: int) -> Array:
    """An array of the fraction 0."""
    array = np.empty(shape, dtype=object)
    array.fill(Fraction(0))
    return array
