"""Attention to many digits, correctly rounded: each result is the nearest number of its format.

The formulas of attention are evaluated one number at a time, and share no line with
`spec.attention.definition`. They are evaluated with 60 digits and with 120. If both round to the
same number, it is the result; otherwise the number of digits is doubled again (Ziv 1991). No number
of digits decides whether a result is exactly zero. Underflow decides it: the error that remains
shrinks with the number of digits, and with 480 digits it rounds to 0.

Results are rounded once, from all digits to the format of the problem, and never through float64.
"""

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, NamedTuple

import mpmath
import numpy as np

from oracles.nearest import exact, nearest, settled, zeros
from spec.attention.contents import Corner
from spec.attention.notation import Gradients, Problem
from spec.attention.record import Implementation
from spec.formats import FORMATS, Format
from spec.notation import DTYPES, Array

Answer = Mapping[str, Array]  # arrays of objects, each an mpmath.mpf


class Row(NamedTuple):
    """A query: its index, its key head, its visible keys, and their weights.

    share: the weight of the attention sink, 0 without one.
    """

    place: tuple[int, int, int]
    key_head: int
    keys: list[int]
    weights: list[Any]
    share: Any
    lse: Any


def rows(problem: Problem) -> list[Row]:
    """Return every query, with a_j = exp(s_j) / (exp(t) + sum_j exp(s_j)) over its visible keys."""
    places = np.ndindex(problem.B, problem.H, problem.N)
    return [row(problem, (b, h, i), h // (problem.H // problem.G)) for b, h, i in places]


def row(problem: Problem, place: tuple[int, int, int], key_head: int) -> Row:
    """Return one query: s_j = scale <q, k_j> + b_j, and its softmax. mpmath does not overflow."""
    biases = [bias(problem, *place, j) for j in range(problem.M)]
    keys = [j for j, b in enumerate(biases) if b is not None]
    q, k = exact(problem.q[place]), exact(problem.k[place[0], key_head])
    s = [score(problem, scale(problem) * mpmath.fdot(q, k[j]), biases[j]) for j in keys]
    sink = mpmath.mpf(-inf if problem.sinks is None else float(problem.sinks[place[1]]))
    *powers, own = [mpmath.exp(x) for x in (*s, sink)]
    total = mpmath.fsum([*powers, own])
    lse = mpmath.log(total) if total else -mpmath.inf
    return Row(place, key_head, keys, [x / total for x in powers], own / (total or 1), lse)


def scale(problem: Problem) -> Any:
    """Return the scale, by default 1 / sqrt(D); for width 0, all products are 0 anyway."""
    asked = problem.scale
    return 1 / mpmath.sqrt(max(problem.D, 1)) if asked is None else mpmath.mpf(float(asked))


def score(problem: Problem, t: Any, b: Any) -> Any:
    """Return t + b; with a soft-cap c, c tanh(t / c) + b or c tanh((t + b) / c)."""
    c = problem.softcap
    if c is None:
        return t + b
    return c * mpmath.tanh((t + b) / c) if problem.caps_bias else c * mpmath.tanh(t / c) + b


def slope(problem: Problem, t: Any, b: Any) -> Any:
    """Return the derivative of `score` by t: the square of sech, which loses no digits near 0."""
    if problem.softcap is None:
        return mpmath.mpf(1)
    return mpmath.sech((t + b if problem.caps_bias else t) / problem.softcap) ** 2


def bias(problem: Problem, b: int, h: int, i: int, j: int) -> Any:
    """Return b_ij, including ALiBi slopes, or None if key j is masked for query i."""
    future = problem.causal and beyond(problem, problem.corner, b, i, j) > 0
    if future or apart(problem, b, i, j):
        return None
    left, right = problem.window
    ahead = beyond(problem, problem.window_corner or problem.corner, b, i, j)
    passed = left is not None and ahead < -left and not begins(problem, b, j)
    if passed or (right is not None and ahead > right):
        return None
    slant = -steepness(problem, b, h) * distance(problem, b, i, j)
    if problem.mask is None:
        return slant
    entry = np.broadcast_to(problem.mask, (problem.B, problem.H, problem.N, problem.M))[b, h, i, j]
    if problem.mask.dtype == bool:
        return slant if entry else None
    return None if entry == -inf else mpmath.mpf(float(entry)) + slant


def apart(problem: Problem, b: int, i: int, j: int) -> bool:
    """Return whether a query and a key have different segments, or a negative one."""
    if problem.query_segments is None or problem.key_segments is None:
        return False
    return not problem.query_segments[b, i] == problem.key_segments[b, j] >= 0


def steepness(problem: Problem, b: int, h: int) -> Any:
    """Return the slope of a head, which batch elements may share; 0 without slopes."""
    m = 0.0 if problem.slopes is None else problem.slopes
    return mpmath.mpf(float(np.broadcast_to(m, (problem.B, problem.H))[b, h]))


def distance(problem: Problem, b: int, i: int, j: int) -> int:
    """Return the distance of key j from query i; if signed, how far it is behind the query."""
    behind = -beyond(problem, problem.slopes_corner or problem.corner, b, i, j)
    return behind if problem.signed_slopes else abs(behind)


def beyond(problem: Problem, corner: Corner, b: int, i: int, j: int) -> int:
    """Return how far key j is ahead of query i: by positions, or by rows and alignment."""
    p, r = problem.query_positions, problem.key_positions
    mine, theirs = problem.query_segments, problem.key_segments
    if problem.restarts and mine is not None and theirs is not None:
        i, j, own = numbered(mine[b], i), numbered(theirs[b], j), mine[b, i]
        more = (theirs[b] == own).sum() - (mine[b] == own).sum()
        return j - i - int(more if corner == "bottom-right" else 0)
    moved = problem.M - problem.N if corner == "bottom-right" and p is r is None else 0
    return int(j if r is None else r[b, j]) - int(i if p is None else p[b, i]) - moved


def begins(problem: Problem, b: int, j: int) -> bool:
    """Return whether key j is a leading key of its sequence, which no window masks."""
    place = j if problem.key_positions is None else int(problem.key_positions[b, j])
    if problem.restarts and problem.key_segments is not None:
        place = numbered(problem.key_segments[b], j)
    return 0 < problem.first > place


def numbered(texts: Array, i: int) -> int:
    """Return the number of tokens of the same segment before a token."""
    return int((texts[:i] == texts[i]).sum())


def outputs(problem: Problem) -> Answer:
    """Return o_i = sum_j a_ij v_j."""
    o, v = zeros(problem.dout.shape), exact(problem.v)
    for place, g, keys, a, _, _ in rows(problem):
        for c in range(problem.E):
            o[*place, c] = mpmath.fdot(a, [v[place[0], g, j, c] for j in keys])
    return {"o": o}


def weights(problem: Problem) -> Answer:
    """Return a_ij, and 0 if key j is masked for query i."""
    a = zeros((problem.B, problem.H, problem.N, problem.M))
    for row in rows(problem):
        a[*row.place, row.keys] = row.weights
    return {"a": a}


def log_sum_exps(problem: Problem) -> Answer:
    """Return log (exp(t_h) + sum_j exp(s_ij)), and -inf for a fully masked query."""
    lse = zeros((problem.B, problem.H, problem.N))
    for row in rows(problem):
        lse[row.place] = row.lse
    return {"lse": lse}


def gradients(problem: Problem) -> Answer:
    """Return dq, dk, dv and ds_ij = a_ij (sum_l a_il (g_ij - g_il) + dlse_i).

    Here g_ij = <dout_i, v_j>. The formula has differences, so that a weight near 1 loses no digits.
    A sink is one more term l, with g = 0. The gradients of sinks and slopes are added if there are
    any.
    """
    q, k, v, dout = (exact(x) for x in (problem.q, problem.k, problem.v, problem.dout))
    dq, dk, dv = (zeros(x.shape) for x in (q, k, v))
    ds, sigma = zeros((problem.B, problem.H, problem.N, problem.M)), scale(problem)
    dsinks = zeros((problem.H,))
    for place, g, keys, a, share, _ in rows(problem):
        head = place[0], g
        along = [mpmath.fdot(dout[place], v[*head, j]) for j in keys]
        dlse = mpmath.mpf(0 if problem.dlse is None else float(problem.dlse[place]))
        for j, a_j, g_j in zip(keys, a, along, strict=True):
            apart = mpmath.fdot([*a, share], [g_j - g_l for g_l in (*along, 0)])
            ds_j = a_j * (apart + dlse)
            t_j = sigma * mpmath.fdot(q[place], k[*head, j])
            dt_j = ds_j * slope(problem, t_j, bias(problem, *place, j))
            ds[*place, j] = dt_j if problem.caps_bias else ds_j
            dq[place] += sigma * dt_j * k[*head, j]
            dk[*head, j] += sigma * dt_j * q[place]
            dv[*head, j] += a_j * dout[place]
        dsinks[place[1]] += share * (dlse - mpmath.fdot(a, along))
    found = {"q": dq, "k": dk, "v": dv, "bias": ds}
    if problem.sinks is not None:
        found["sinks"] = dsinks
    return found if problem.slopes is None else found | {"slopes": slope_gradient(problem, ds)}


def slope_gradient(problem: Problem, ds: Array) -> Array:
    """Return -sum_ij ds_ij |i - j|, summed over the batch if it shares its slopes."""
    dm, shared = zeros((problem.B, problem.H)), np.asarray(problem.slopes).ndim == 1
    for b, h, i, j in np.ndindex(ds.shape):
        dm[0 if shared else b, h] -= ds[b, h, i, j] * distance(problem, b, i, j)
    return dm[0] if shared else dm


def mask_gradient(problem: Problem) -> Answer:
    """Return the gradient of the mask as it was given: ds, summed where the mask is broadcast."""
    ds, mask = gradients(problem)["bias"], np.asarray(problem.mask)
    db = zeros(mask.shape)
    lengths = (1,) * (ds.ndim - mask.ndim) + mask.shape
    for place in np.ndindex(ds.shape):
        folded = tuple(x if n > 1 else 0 for x, n in zip(place, lengths, strict=True))
        db[folded[ds.ndim - mask.ndim :]] += ds[place]
    return {"mask": db}


def rounded(answer: Answer, to: Format) -> dict[str, Array]:
    """Return every number of a result, rounded once."""
    nearest_in = np.frompyfunc(lambda x: nearest(x, to), 1, 1)
    return {name: nearest_in(x).astype(np.float64) for name, x in answer.items()}


def correctly(evaluate: Callable[[Problem], Answer], problem: Problem) -> dict[str, Array]:
    """Return the result in the format of the problem, from as many digits as rounding needs."""
    return settled(lambda: rounded(evaluate(problem), FORMATS[problem.dtype]))


MANY_DIGITS = Implementation(
    name="many digits",
    forward=lambda problem: correctly(outputs, problem)["o"],
    backward=lambda problem: Gradients(**correctly(gradients, problem)),
    bias_gradient=lambda problem: correctly(mask_gradient, problem)["mask"],
    sink_gradient=lambda problem: correctly(gradients, problem)["sinks"],
    slope_gradient=lambda problem: correctly(gradients, problem)["slopes"],
    lse_backward=lambda problem: Gradients(**correctly(gradients, problem)),
    weights=lambda problem: correctly(weights, problem)["a"],
    lse=lambda problem: correctly(log_sum_exps, problem)["lse"],
    dtypes=DTYPES,
    origin="oracles.digits:MANY_DIGITS",
)
