"""Laws of the output and the gradients, run through the definition in fractions."""

from collections.abc import Callable

import numpy as np

from spec.attention import definition, moves
from spec.attention.notation import Problem
from spec.attention.proofs.examples import exactly, square
from spec.notation import Array


def keys(problem: Problem, chosen: Array | slice) -> Problem:
    """The problem with the `chosen` keys alone, in that order."""
    return moves.of_keys(moves.written_out(problem), chosen)


def queries(problem: Problem, chosen: Array | slice) -> Problem:
    """The problem with the `chosen` queries alone, in that order."""
    return moves.of_queries(moves.written_out(problem), chosen)


def untrue(one: Problem, two: Problem) -> Array:
    """The output of one, less that of two."""
    return definition.attention(one) - definition.attention(two)


@exactly(last=-1)
def outputs_lie_among_the_allowed_values(problem: Problem, last: int | None = None) -> Array:
    """min_j v_j <= o_i <= max_j v_j over the keys allowed to i. The control ignores a key."""
    allowed, live = problem.allowed[..., :last, None], np.logical_not(problem.idle)[..., None]
    v = definition.shared(problem.v, problem.H)[:, :, None, :last]
    low = np.where(allowed, v, np.inf).min(axis=3, initial=np.inf)
    high = np.where(allowed, v, -np.inf).max(axis=3, initial=-np.inf)
    o = definition.attention(problem)
    return np.where(live, np.maximum(o - high, 0) + np.maximum(low - o, 0), o)


@exactly(masked=False)
def keys_are_a_set(problem: Problem, masked: bool = True) -> Array:
    """Permuting k, v and the columns of the mask changes nothing. The control: not the mask."""
    moved = keys(problem, problem.chance().permutation(problem.M))
    return untrue(moved if masked else moved.but(mask=moves.written_out(problem).mask), problem)


@exactly(masked=False)
def queries_are_a_batch(problem: Problem, masked: bool = True) -> Array:
    """Permuting q and the rows of the mask permutes o. The control: not the mask."""
    order = problem.chance().permutation(problem.N)
    moved = queries(problem, order)
    moved = moved if masked else moved.but(mask=moves.written_out(problem).mask)
    return definition.attention(moved) - definition.attention(problem)[:, :, order]


@exactly(ungrouped=True, also_keys=False)
def heads_permute(problem: Problem, also_keys: bool = True) -> Array:
    """Permuting all heads permutes o. The control leaves the keys where they are."""
    order = np.roll(np.arange(problem.H), 1)
    moved = moves.of_groups(moves.written_out(problem), order)
    moved = moved if also_keys else moved.but(k=problem.k)
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
    return untrue(repeated, problem)


@exactly(forbids=-1)
def forbidden_keys_are_deleted_keys(problem: Problem, forbids: float = -np.inf) -> Array:
    """Hiding the first key from all queries = leaving it out. The control: a bias of -1."""
    bias = np.where(np.arange(problem.M) == 0, forbids, problem.bias)
    return untrue(moves.with_bias(problem, bias), keys(problem, slice(1, None)))


@exactly(everywhere=True)
def forbidden_content_is_not_read(problem: Problem, everywhere: bool = False) -> Array:
    """Another key and value where no query may look change nothing. The control: everywhere."""
    readers = definition.gathered(problem.allowed.sum(axis=2), problem.G)
    dead = np.where((readers == 0) | everywhere, 9, 0)[..., None]
    return untrue(problem.but(k=problem.k + dead, v=problem.v + dead), problem)


@exactly(causal=True, offset=1)
def causal_prefixes_are_consistent(problem: Problem, offset: int = 0) -> Array:
    """o_i = attention of query i over keys 0 to i alone. The control: to i - 1."""
    o, L = definition.attention(problem), min(problem.N, problem.M)
    rows = [keys(queries(problem, slice(i, i + 1)), slice(i + 1 - offset)) for i in range(L)]
    return np.concatenate([definition.attention(row) for row in rows], axis=2) - o[:, :, :L]


@exactly(causal=True, corner="top-left")
def the_last_query_sees_all_keys(problem: Problem, corner: str = "bottom-right") -> Array:
    """In the bottom-right corner, o_(N-1) is full attention. The control: top-left."""
    rows = problem.but(mask=None, corner=corner)
    return untrue(rows, rows.but(causal=False))[:, :, -1]


@exactly(width=1)
def a_window_of_nothing_copies_the_values(problem: Problem, width: int = 0) -> Array:
    """A window (0, 0) leaves one key: o_i = v_i. The control: (1, 1)."""
    near = square(problem).but(causal=False, window=(width, width))
    return definition.attention(near) - definition.shared(near.v, near.H)


@exactly(ahead=1)
def causality_ends_a_window(problem: Problem, ahead: int = 0) -> Array:
    """A causal window (1, 2) is (1, 0). The control: (1, 1)."""
    cut = square(problem)
    both = cut.but(causal=True, window=(1, 2))
    return untrue(both, cut.but(causal=False, window=(1, ahead)))


@exactly(reach=0)
def a_window_is_a_part_of_the_keys(problem: Problem, reach: int = 1) -> Array:
    """In a window (1, 1), o_i = attention of query i over keys i - 1 to i + 1. The control: i."""
    whole = square(problem).but(causal=False, window=(1, 1))
    plain = whole.but(window=(None, None))
    rows = [
        keys(queries(plain, slice(i, i + 1)), slice(max(i - reach, 0), i + 1 + reach))
        for i in range(whole.N)
    ]
    parts = [definition.attention(row) for row in rows]
    return np.concatenate(parts, axis=2) - definition.attention(whole)


@exactly(turned=False)
def a_window_read_backwards_is_turned_round(problem: Problem, turned: bool = True) -> Array:
    """Both axes reversed, (0, 1) is (1, 0). The control: it is (0, 1)."""
    whole, back = square(problem).but(causal=False, window=(0, 1)), slice(None, None, -1)
    mirrored = keys(queries(whole, back), back).but(window=(1, 0) if turned else (0, 1))
    return definition.attention(mirrored)[:, :, ::-1] - definition.attention(whole)


@exactly(passed=0)
def what_has_left_the_window_is_forgotten(problem: Problem, passed: int = 1) -> Array:
    """A text under a window (1, 1) less its first token has all rows but one. The control: all."""
    whole = square(problem).but(causal=False, window=(1, 1))
    later = keys(queries(whole, slice(1, None)), slice(1, None))
    return (definition.attention(later) - definition.attention(whole)[:, :, 1:])[:, :, passed:]


def sloping(problem: Problem, **changes: bool) -> Problem:
    """As many queries as keys, and slopes 1, 2, 1, ... of the heads; nothing is hidden."""
    return square(problem).but(causal=False, slopes=np.resize([1.0, 2.0], problem.H), **changes)


@exactly(added=0)
def slopes_are_a_bias(problem: Problem, added: int = 1) -> Array:
    """Slopes m are a bias -m |i - j|. The control adds nothing."""
    sloped = sloping(problem)
    apart = np.abs(np.arange(sloped.M) - np.arange(sloped.N)[:, None])
    bias = -added * np.resize([1.0, 2.0], problem.H)[:, None, None] * apart
    return untrue(sloped, sloped.but(slopes=None, mask=bias))


@exactly(signed_slopes=True)
def slopes_know_no_direction(problem: Problem, signed_slopes: bool = False) -> Array:
    """Both axes reversed, slopes are what they were. In the control they are signed."""
    whole, back = sloping(problem, signed_slopes=signed_slopes), slice(None, None, -1)
    mirrored = moves.of_keys(moves.of_queries(whole, back), back)
    return definition.attention(mirrored)[:, :, ::-1] - definition.attention(whole)


def packed(problem: Problem, *labels: int) -> Problem:
    """Tokens of several texts in turn, with these labels; nothing else hides a key by its place."""
    sizes = {"query_segments": problem.N, "key_segments": problem.M}
    rows = {x: np.tile(np.resize(labels, size), (problem.B, 1)) for x, size in sizes.items()}
    return problem.but(causal=False, **rows)


@exactly(ahead=1)
def texts_are_separate(problem: Problem, ahead: int = 0) -> Array:
    """Of two texts in turn, the first is attention over its keys. The control: over the other's."""
    whole, alone = packed(problem, 0, 1), problem.but(causal=False)
    alone = moves.of_keys(moves.of_queries(alone, slice(0, None, 2)), slice(ahead, None, 2))
    return definition.attention(whole)[:, :, ::2] - definition.attention(alone)


@exactly(other=0)
def segments_are_labels(problem: Problem, other: int = 1) -> Array:
    """Texts 0 and 1 are texts 1 and 0. In the control both are 0."""
    return untrue(packed(problem, 0, 1), packed(problem, other, 0))


@exactly(label=2)
def padding_is_no_text(problem: Problem, label: int = -1) -> Array:
    """Every second token is padding, and returns zero. The control: it is a text."""
    return definition.attention(packed(problem, 0, label))[:, :, 1::2]


@exactly(label=0)
def a_text_that_nobody_reads_may_go(problem: Problem, label: int = 7) -> Array:
    """The first key, of a text without queries, may be left out. In the control it is text 0's."""
    theirs = np.where(np.arange(problem.M) == 0, label, np.arange(problem.M) % 2)
    more = packed(problem, 0, 1).but(key_segments=np.tile(theirs, (problem.B, 1)))
    return untrue(more, moves.of_keys(more, slice(1, None)))


@exactly(apart=0)
def no_gradient_leaves_its_text(problem: Problem, apart: int = 1) -> Array:
    """dk of a text is zero where dout is zero in it. In the control there is one text."""
    dout = np.where((np.arange(problem.N) % 2 == 0)[:, None], problem.dout, 0)
    taught = packed(problem, 0, apart).but(dout=dout)
    return definition.gradients(taught).k[:, :, 1::2]


@exactly(upto=-1)
def bias_gradients_add_to_nothing(problem: Problem, upto: int | None = None) -> Array:
    """sum_j db_ij = 0. The control loses the last key."""
    return definition.score_gradients(problem)[..., :upto].sum(axis=-1)


@exactly(inverse=False)
def gradients_follow_the_order_of_keys(problem: Problem, inverse: bool = True) -> Array:
    """Permuting the keys permutes dk and dv. The control compares them unpermuted."""
    order = np.roll(np.arange(problem.M), 1)
    moved, here = definition.gradients(keys(problem, order)), definition.gradients(problem)
    back = order if inverse else slice(None)
    return np.concatenate([moved.k - here.k[:, :, back], moved.v - here.v[:, :, back]], axis=-1)


@exactly(added=False)
def gradients_of_shared_heads_add_up(problem: Problem, added: bool = True) -> Array:
    """dk and dv of a key head are the sums over its copies. The control takes the first copy."""
    copies, here = (definition.gradients(x) for x in (moves.of_one_key_head_each(problem), problem))
    step = problem.H // problem.G
    found = [
        (definition.gathered(x, problem.G) if added else x[:, ::step]) - y
        for x, y in ((copies.k, here.k), (copies.v, here.v))
    ]
    return np.concatenate(found, axis=-1)


@exactly(causal=True, reach=1)
def the_past_learns_nothing_from_the_future(problem: Problem, reach: int = 0) -> Array:
    """dk_j comes from queries i >= j alone. The control: from i > j."""
    dk, last = definition.gradients(problem).k, problem.M - 1
    later = queries(problem, slice(last + reach, None))
    return definition.gradients(later).k[:, :, last] - dk[:, :, last]
