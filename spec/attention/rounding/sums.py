"""The rounding error of a sum, whatever the order of its terms.

The model is Higham's (2.4): fl(x op y) = (x op y)(1 + d), |d| <= u, plus at most w
where the result underflows. First-order terms are grown by 1 + 4 (n + 8) u, which
is more than gamma_n / (n u) for any n that fits in memory (lemma 3.1, section 3.4).

Lemma 1 (any order). Let x_1 ... x_n be summed along any binary tree. With S the sum
and A the sum of |x_k|, the positive terms sum to (A + S) / 2 and the negative ones
to (S - A) / 2, so the partial sum over any subset is at most (A + |S|) / 2. Each of
the n - 1 additions rounds such a partial sum, by at most u times as much
(section 4.2, with the partial sums bounded). A product rounds once or more before:

    |fl(sum) - S| <= u (products A + (n - 1) (A + |S|) / 2) + 2 n w

with 3 (n + 1) for n - 1 where sums are cut off (Lemma 1', `units`).

Fused multiply-add only leaves roundings out. The textbook bound has A for
(A + |S|) / 2, and so up to twice as much.

Lemma 2 (light terms). Let the terms be a_j >= 0 with sum 1. An addition errs by no
more than either operand, because the other operand is itself a number of the
format, no further away. So an operand made of light terms alone, a_j < u, costs its
own size when it joins the rest, and the additions that remain are between operands
that each hold a heavy term: one fewer than there are heavy terms.

    |fl(sum) - 1| <= sum_j min(u, a_j) - u

A sharp softmax over many keys costs almost nothing.

Lemma 4 (rescaling). An online softmax multiplies what it has so far by exp(m - m')
when the running maximum rises from m to m', and that is inexact only if it rises.
After key j has been absorbed, it can rise at most

    R_ij = #{k != j : s_ik > s_ij - margin_i}

times, in any order of keys and any tiling; computed scores that are closer than
the margin may come in either order.
"""

import numpy as np

from spec.notation import Array

# Up to here the number of rescalings is bounded for every order; above, for scans.
ANY_ORDER_UP_TO = 128


def growth(n: int, u: float) -> float:
    """The factor that covers the terms of higher order in u of a sum of n terms."""
    return 1.0 + 4.0 * (n + 8) * u


def additions(n: int, cut: bool) -> float:
    """How many roundings a sum of n terms is off by: n - 1, or what `units` has in their place."""
    return max(n - 1, 0) if not cut else 3.0 * (n + 1) * (n > 1)


def plus(x: Array, more: Array | float) -> Array:
    """x + more; x itself where there is nothing more, which is no array of zeros but 0.0."""
    return x if isinstance(more, float) and more == 0 else x + more


def of_any_order(
    A: Array,
    S: Array,
    n: int,
    *,
    u: float,
    w: float,
    count: Array | int,
    products: float = 1.0,
    cut: bool = False,
) -> Array:
    """Lemma 1: u (products A + (n - 1) (A + |S|) / 2) + 2 count w, shaped like S.

    A: sum of |terms|. n: how many terms at most; count: how many of them are there. cut: by a unit
    that cuts sums off.
    """
    half = 0.5 * additions(n, cut)
    unit = u * growth(n, u)
    return (unit * (products + half)) * A + (unit * half) * np.abs(S) + (2 * w) * count


def added_up(
    terms: Array, budget: Array, shape: tuple[int, ...], u: float, w: float
) -> tuple[Array, Array, Array, Array]:
    """Terms within a budget each, added up to `shape`: their errors, the sum, whether there is
    any, and what adding rounds (Lemma 1).   (shape) each"""
    lead, sizes = terms.ndim - len(shape), terms.shape
    axes = tuple(a for a, size in enumerate(sizes) if a < lead or shape[a - lead] == 1 != size)
    n = int(np.prod([sizes[axis] for axis in axes], dtype=int))
    size, moved, total = (x.sum(axis=axes).reshape(shape) for x in (np.abs(terms), budget, terms))
    count = np.minimum(size + moved, 1) > 0
    return moved, total, count, of_any_order(size + moved, total, n, u=u, w=w, count=n * count)


def rescalings(s: Array, margin: Array) -> Array:
    """Lemma 4: R_ij, how often the maximum may rise after key j.   (B, H, N, M)

    s: (B, H, N, M), -inf at forbidden keys. margin: (B, H, N, 1).
    Above `ANY_ORDER_UP_TO` keys, for scans from either end, in tiles of any size,
    and one merging of parts: most of the bound would be this term otherwise.
    """
    if s.shape[-1] <= 1:
        return np.zeros(s.shape)
    rank = _rank(s, margin)
    if s.shape[-1] <= ANY_ORDER_UP_TO:
        return rank
    scans = np.maximum(_rises(s, margin), _rises(s[..., ::-1], margin)[..., ::-1])
    return np.minimum(rank, scans + 2)


def _rank(s: Array, margin: Array) -> Array:
    """An upper bound of #{k != j : s_k > s_j - margin}, by sorting.

    Neighbours in sorted order that are closer than the margin are chained
    together, and a key counts all others of its chain and all above it.
    """
    M = s.shape[-1]
    order = np.argsort(s, axis=-1)
    order += np.arange(0, s.size, M).reshape(*s.shape[:-1], 1)
    places = order.reshape(-1)
    climbing = s.reshape(-1).take(places).reshape(s.shape)
    apart = np.ones(s.shape, dtype=bool)  # the first of each chain
    np.greater_equal(climbing[..., 1:], climbing[..., :-1] + margin, out=apart[..., 1:])
    above = np.empty(s.shape)
    above[...] = np.arange(M - 1.0, -1.0, -1.0)
    chained = np.flatnonzero(~apart)
    if chained.size:
        first = chained - 1
        first[1:][chained[:-1] == first[1:]] = 0  # where the one before is chained as well
        np.maximum.accumulate(first, out=first)
        above.reshape(-1)[chained] = above.reshape(-1)[first]
    rank = np.empty(s.size)
    rank[places] = above.reshape(-1)
    return rank.reshape(s.shape)


def _rises(s: Array, margin: Array) -> Array:
    """How often the running maximum of a scan may rise after each key."""
    before = np.maximum.accumulate(s, axis=-1)[..., :-1]
    rises = (s[..., 1:] > before - margin).astype(float)
    after = np.zeros(s.shape)
    after[..., :-1] = np.cumsum(rises[..., ::-1], axis=-1)[..., ::-1]
    return after
