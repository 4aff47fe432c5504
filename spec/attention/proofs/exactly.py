"""Laws of the output and the weights, run through the definition in fractions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.attention.proofs.examples import exactly, integers
from spec.notation import Array
from spec.proving.exact import fractions


def masses(problem: Problem) -> Array:
    """exp(lse), which is rational where lse is not; 0 for an idle query.   (B, H, N, 1)"""
    return np.exp(definition.lse(problem))[..., None]


def full_bias(problem: Problem) -> Array:
    """The mask, the bias and the causality of a problem, as one bias.   (B, H, N, M)"""
    return np.where(problem.allowed, problem.bias, -np.inf)


def biased(problem: Problem, bias: Array) -> Problem:
    """The same problem with `bias` in the place of mask and causality."""
    return problem.but(mask=bias, causal=False)


def keys(problem: Problem, chosen: Array | slice) -> Problem:
    """The problem with the `chosen` keys alone, in that order."""
    some = biased(problem, full_bias(problem)[..., chosen])
    return some.but(k=problem.k[:, :, chosen], v=problem.v[:, :, chosen])


def queries(problem: Problem, chosen: Array | slice) -> Problem:
    """The problem with the `chosen` queries alone, in that order."""
    some = biased(problem, full_bias(problem)[:, :, chosen])
    return some.but(q=problem.q[:, :, chosen], dout=problem.dout[:, :, chosen])


def merged(one: Problem, two: Problem) -> Array:
    """The outputs over two blocks of keys, weighted by exp(lse)."""
    outs = [masses(block) * definition.attention(block) for block in (one, two)]
    mass = masses(one) + masses(two)
    return (outs[0] + outs[1]) / np.where(mass == 0, 1, mass)


@exactly(upto=-1)
def weights_sum_to_one_or_to_nothing(problem: Problem, upto: int | None = None) -> Array:
    """sum_j a_ij = 1, and 0 for an idle query. The control loses the last key."""
    live = np.logical_not(problem.idle).astype(int)
    return definition.weights(problem)[..., :upto].sum(axis=-1) - live


@exactly(power=1)
def scores_may_shift_by_row(problem: Problem, power: int = 0) -> Array:
    """a(b + c_i) = a(b), for a bias. The control adds c_i j to the bias of key j."""
    c = integers(problem.chance(), problem.N, 1) * np.arange(1, problem.M + 1) ** power
    shifted = biased(problem, full_bias(problem) + c)
    return definition.weights(shifted) - definition.weights(problem)


@exactly(power=1)
def keys_may_shift_together(problem: Problem, power: int = 0) -> Array:
    """o(k + c) = o(k). The control moves key j by c j."""
    c = integers(problem.chance(), problem.D) * np.arange(1, problem.M + 1)[:, None] ** power
    return definition.attention(problem.but(k=problem.k + c)) - definition.attention(problem)


@exactly(last=-1)
def outputs_lie_among_the_allowed_values(problem: Problem, last: int | None = None) -> Array:
    """min_j v_j <= o_i <= max_j v_j over the keys allowed to i. The control ignores a key."""
    allowed, live = problem.allowed[..., :last, None], np.logical_not(problem.idle)[..., None]
    v = definition.shared(problem.v, problem.H)[:, :, None, :last]
    low = np.where(allowed, v, np.inf).min(axis=3, initial=np.inf)
    high = np.where(allowed, v, -np.inf).max(axis=3, initial=-np.inf)
    o = definition.attention(problem)
    return np.where(live, np.maximum(o - high, 0) + np.maximum(low - o, 0), o)


@exactly(power=2)
def outputs_are_linear_in_values(problem: Problem, power: int = 1) -> Array:
    """o(v A) = o(v) A. The control squares the values first."""
    A = fractions(integers(problem.chance(), problem.E, 4))
    moved = problem.but(v=problem.v**power @ A)
    return definition.attention(moved) - definition.attention(problem) @ A


@exactly(masked=False)
def keys_are_a_set(problem: Problem, masked: bool = True) -> Array:
    """Permuting k, v and the columns of the mask changes nothing. The control: not the mask."""
    order = problem.chance().permutation(problem.M)
    moved = keys(problem, order)
    moved = moved if masked else biased(moved, full_bias(problem))
    return definition.attention(moved) - definition.attention(problem)


@exactly(masked=False)
def queries_are_a_batch(problem: Problem, masked: bool = True) -> Array:
    """Permuting q and the rows of the mask permutes o. The control: not the mask."""
    order = problem.chance().permutation(problem.N)
    moved = queries(problem, order)
    moved = moved if masked else biased(moved, full_bias(problem))
    return definition.attention(moved) - definition.attention(problem)[:, :, order]


@exactly(ungrouped=True, also_keys=False)
def heads_permute(problem: Problem, also_keys: bool = True) -> Array:
    """Permuting all heads permutes o. The control leaves the keys where they are."""
    order = np.roll(np.arange(problem.H), 1)
    moved = biased(problem, full_bias(problem)[:, order])
    moved = moved.but(q=problem.q[:, order], v=problem.v[:, order])
    moved = moved.but(k=problem.k[:, order]) if also_keys else moved
    return definition.attention(moved) - definition.attention(problem)[:, order]


def tiled(x: Array, heads: int) -> Array:
    """The key heads one after the other, again and again: what `grouped` must not do."""
    return x[:, np.arange(heads) % x.shape[1]]


@exactly(spread=tiled)
def grouped_heads_are_repeated_heads(
    problem: Problem, spread: Callable[[Array, int], Array] = definition.shared
) -> Array:
    """G key heads = each of them H / G times in a row. The control deals them out in turn."""
    repeated = problem.but(k=spread(problem.k, problem.H), v=spread(problem.v, problem.H))
    return definition.attention(repeated) - definition.attention(problem)


@exactly(forbids=-1)
def forbidden_keys_are_deleted_keys(problem: Problem, forbids: float = -np.inf) -> Array:
    """Hiding the first key from all queries = leaving it out. The control: a bias of -1."""
    hidden = biased(problem, np.where(np.arange(problem.M) == 0, forbids, full_bias(problem)))
    deleted = keys(problem, slice(1, None))
    return definition.attention(hidden) - definition.attention(deleted)


@exactly(everywhere=True)
def forbidden_content_is_not_read(problem: Problem, everywhere: bool = False) -> Array:
    """Another key and value where no query may look change nothing. The control: everywhere."""
    readers = definition.gathered(problem.allowed.sum(axis=2), problem.G)
    dead = np.where((readers == 0) | everywhere, 9, 0)[..., None]
    spoilt = problem.but(k=problem.k + dead, v=problem.v + dead)
    return definition.attention(spoilt) - definition.attention(problem)


@exactly(causal=True, offset=1)
def causal_prefixes_are_consistent(problem: Problem, offset: int = 0) -> Array:
    """o_i = attention of query i over keys 0 to i alone. The control: to i - 1."""
    o, L = definition.attention(problem), min(problem.N, problem.M)
    rows = [keys(queries(problem, slice(i, i + 1)), slice(i + 1 - offset)) for i in range(L)]
    return np.concatenate([definition.attention(row) for row in rows], axis=2) - o[:, :, :L]


@exactly(causal=True, lacking=1)
def corners_agree_on_squares(problem: Problem, lacking: int = 0) -> Array:
    """Top-left = bottom-right for N = M. The control has one key less."""
    size = min(problem.N, problem.M)
    cut = {"q": problem.q[:, :, :size], "dout": problem.dout[:, :, :size], "mask": None}
    cut |= {name: getattr(problem, name)[:, :, : size - lacking] for name in ("k", "v")}
    corners = [problem.but(**cut, corner=corner) for corner in ("top-left", "bottom-right")]
    return definition.attention(corners[0]) - definition.attention(corners[1])


@exactly(causal=True, corner="top-left")
def the_last_query_sees_all_keys(problem: Problem, corner: str = "bottom-right") -> Array:
    """In the bottom-right corner, o_(N-1) is full attention. The control: top-left."""
    rows = problem.but(mask=None, corner=corner)
    full = definition.attention(rows.but(causal=False))
    return (definition.attention(rows) - full)[:, :, -1]


@exactly(weighted=False)
def blocks_of_keys_merge(problem: Problem, weighted: bool = True) -> Array:
    """Two blocks weighted by exp(lse) are the whole. The control takes their mean."""
    one, two = keys(problem, slice(1)), keys(problem, slice(1, None))
    mean = (definition.attention(one) + definition.attention(two)) / 2
    return (merged(one, two) if weighted else mean) - definition.attention(problem)


@exactly(weighted=False)
def complementary_masks_merge(problem: Problem, weighted: bool = True) -> Array:
    """A mask and its complement, weighted by exp(lse), are the whole. Control: their mean."""
    bias, some = full_bias(problem), problem.chance().random(problem.allowed.shape) < 0.5
    one = biased(problem, np.where(some, bias, -np.inf))
    two = biased(problem, np.where(some, -np.inf, bias))
    mean = (definition.attention(one) + definition.attention(two)) / 2
    return (merged(one, two) if weighted else mean) - definition.attention(problem)


@exactly(copies=3)
def a_key_twice_is_a_bias_of_one(problem: Problem, copies: int = 2) -> Array:
    """In base 2 log 2 is 1: key 0 twice = key 0 with a bias of 1. The control: three times."""
    twice = keys(problem, np.array([0] * (copies - 1) + list(range(problem.M))))
    raised = biased(problem, full_bias(problem) + (np.arange(problem.M) == 0))
    return definition.attention(twice) - definition.attention(raised)


@exactly(copies=3)
def all_keys_twice_double_the_mass(problem: Problem, copies: int = 2) -> Array:
    """exp(lse) doubles, and o stays. The control counts every key three times."""
    twice = keys(problem, np.tile(np.arange(problem.M), copies))
    return np.concatenate(
        [
            masses(twice) - 2 * masses(problem),
            definition.attention(twice) - definition.attention(problem),
        ],
        axis=-1,
    )


@exactly(width=1)
def a_window_of_nothing_copies_the_values(problem: Problem, width: int = 0) -> Array:
    """|i - j| <= 0 allows one key: o_i = v_i. The control has a window of 1."""
    size = min(problem.N, problem.M)
    i = np.arange(size)
    near = np.abs(i[:, None] - i) <= width
    square = problem.but(
        q=problem.q[:, :, :size], dout=problem.dout[:, :, :size], mask=near, causal=False
    ).but(k=problem.k[:, :, :size], v=problem.v[:, :, :size])
    return definition.attention(square) - definition.shared(square.v, problem.H)


@exactly(causal=False, short=1)
def a_window_of_all_keys_is_none(problem: Problem, short: int = 0) -> Array:
    """|i - j| < max(N, M) forbids nothing. The control forbids the farthest pair."""
    length = max(problem.N, problem.M) - short
    i, j = np.arange(problem.N)[:, None], np.arange(problem.M)
    near = np.less(np.abs(i - j), length)
    free = problem.but(mask=None)
    return definition.attention(free.but(mask=near)) - definition.attention(free)
