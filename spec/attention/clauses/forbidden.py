"""Section M, continued. The content of masked keys never changes the result.

A masked key acts like a deleted key. Whatever finite numbers it and its value hold,
not a bit of the output depends on them, and neither receives any gradient. Padding may
therefore stay uninitialised, a cache may be longer than its content, and sequences of
different users may share a batch. NaN and infinity are harder to ignore, because zero
times NaN is NaN. M8, the clause about NaN, is therefore a `should`.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import BOOLEAN, ENDS, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import at_sizes, exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, holds, same_bits
from spec.notation import Array

HOLES = Problems(masks=(*BOOLEAN, "additive with holes"))
HOLLOW = ("padding", "tiles")  # kinds that mask some key for every query
# What a masked key may hold: numbers as large as possible, of which no product overflows.
LARGE = {"float64": 2.0**300, "float32": 2.0**60, "bfloat16": 2.0**60, "float16": 2.0**5}


def unseen(problem: Problem) -> Array:
    """Return True for keys masked for every query of every head that reads them.   (B, G, M)"""
    seen = problem.allowed.any(axis=2)
    return np.logical_not(definition.gathered(seen.astype(int), problem.G).astype(bool))


def poisoned(problem: Problem, k: float, v: float) -> Problem:
    """Return the problem with `k` in all unseen keys and `v` in their values."""
    hidden = unseen(problem)[..., None]
    return problem.but(k=np.where(hidden, k, problem.k), v=np.where(hidden, v, problem.v))


def with_another_key(problem: Problem) -> tuple[Array, Problem]:
    """Which queries may not attend to some key, and the problem with another key there."""
    j = problem.chance().below(problem.M)
    k, v = problem.k.copy(), problem.v.copy()
    k[:, :, j], v[:, :, j] = -k[:, :, j], -v[:, :, j]
    return np.logical_not(problem.allowed[..., j])[..., None], problem.but(k=k, v=v)


@clause(
    "M2",
    over=Problems(slopes=False, masks=HOLLOW, causal=False),
    catches={"inverts_the_mask", "adds_the_truth_values"},
    proof=exactly.forbidden_keys_are_deleted_keys,
)
def masking_a_key_equals_deleting_it(attention: Implementation, problem: Problem) -> None:
    """Masking keys for all queries gives the same output as deleting them.

        o(q, k, v; mask) = o(q, k', v'; mask')    where k', v', mask' lack the keys masked for all

    exp(-inf) = 0 adds nothing to the denominator or to the output. This makes padding harmless.
    """
    first = moves.of_groups(moves.of_batch(problem, [0]), [0])
    kept = np.flatnonzero(~unseen(first)[0, 0])
    deleted = moves.of_keys(first, kept)

    whole, part = attention.forward(first), attention.forward(deleted)

    equal(part, whole, within=rounding.of_output(first) + rounding.of_output(deleted))


@clause(
    "M6",
    over=HOLES,
    catches={
        "ignores_the_mask",
        "adds_the_truth_values",
        "uses_the_mask_of_the_first_query",
        "zeroes_forbidden_scores",
    },
    proof=exactly.forbidden_content_is_not_read,
    promise="length",
)
def content_of_masked_keys_does_not_change_the_output(
    attention: Implementation, problem: Problem
) -> None:
    """A key masked for all queries, and its value, may hold any finite numbers without changing a
    bit of the output.

        o(k, v) = o(k', v')    where they differ only at keys masked for all queries

    Large enough scores outweigh any finite penalty that is added to them. The tested
    numbers are that large, but their products do not overflow.
    """
    large = LARGE[problem.dtype]
    loud, other = poisoned(problem, large, large), poisoned(problem, -1.0, -large)

    o, p = attention.forward(loud), attention.forward(other)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
    same_bits(p, o)


@clause(
    "M26",
    over=Problems(masks=ENDS, tiled="ends", causal=False),
    catches={"reads_whole_tiles_of_the_mask", "forgets_the_mask_beyond_1024_keys"},
)
def mask_covers_the_last_keys_at_any_length(attention: Implementation, problem: Problem) -> None:
    """Masking only the last n keys, or all keys but the last n, works for any number of keys.

        o_i = sum_(j < M - n) a_ij v_j,    or over j >= M - n alone, for any M

    A kernel reads the mask in tiles, but with other code than the keys. That code may ignore the
    mask beyond the last whole tile, or beyond the largest size that its author expected.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "M7",
    over=HOLES,
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_mask"},
    effort=2,
    proof=at_sizes.forbidden_keys_have_no_gradient,
)
def masked_keys_receive_no_gradient(attention: Implementation, problem: Problem) -> None:
    """A key that is masked for all queries, and its value, receive gradients of exactly zero.

        dk_j = 0,    dv_j = 0    for j masked for every query

    This is M6 (masked content) differentiated in the masked keys and values. It holds for any
    finite numbers in them whose products do not overflow.
    """
    loud = poisoned(problem, LARGE[problem.dtype], -LARGE[problem.dtype])
    hidden = unseen(loud)[..., None]

    gradients = attention.backward(loud)

    equal(np.where(hidden, gradients.k, 0), np.zeros(loud.k.shape), within=0)
    equal(np.where(hidden, gradients.v, 0), np.zeros(loud.v.shape), within=0)


@clause("M8", over=HOLES, catches={"multiplies_forbidden_values_by_zero"}, force="should")
def nan_in_masked_keys_does_not_reach_the_output(
    attention: Implementation, problem: Problem
) -> None:
    """A key masked for all queries, and its value, may even hold NaN without changing the output.

        o(k, v) = o(k', v')    where they differ only at keys masked for all queries

    0 * NaN and NaN - inf are NaN. So a masked score is replaced, not lowered, and a masked value is
    left out of the sum, not multiplied by zero.
    """
    o = attention.forward(poisoned(problem, np.nan, np.nan))

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "M18",
    over=Problems(segments=False, masks=PLAIN, causal=False),
    catches={"swallows_nan"},
    force="should",
)
def nan_in_a_query_gives_nan_in_its_output(attention: Implementation, problem: Problem) -> None:
    """A NaN in a query makes the output of that query NaN, and changes no other output.

        q_i = NaN  implies  o_i = NaN,    and o_l is unchanged for l != i

    Replacing every NaN by zero, as a fix for fully masked queries, also hides this NaN and its
    cause.
    """
    i = problem.chance().below(problem.N)
    q = problem.q.copy()
    q[:, :, i] = np.nan
    o = attention.forward(problem.but(q=q))

    lost = ~np.isnan(o[:, :, i])
    holds(not lost.any(), f"query {i} is NaN and its output is not")
    others = np.arange(problem.N) != i
    want, within = rounding.reference(problem).o, rounding.of_output(problem)
    equal(o[:, :, others], want[:, :, others], within=within[:, :, others])


@clause(
    "M21", over=HOLES, catches={"ignores_the_mask", "zeroes_forbidden_scores"}, promise="length"
)
def query_output_ignores_keys_masked_for_that_query(
    attention: Implementation, problem: Problem
) -> None:
    """No bit of a query's output depends on a key that is masked for it, or on that key's value.

        o_i(k, v) = o_i(k', v')    for finite k', v' that differ only at a key j masked for i

    M6 tests keys that are masked for all queries, which an implementation may skip entirely.
    """
    blind, other = with_another_key(problem)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(np.where(blind, after, 0), np.where(blind, before, 0))


@clause("M29", over=HOLES, catches={"ignores_the_mask", "zeroes_forbidden_scores"}, effort=2)
def content_of_masked_keys_leaves_no_trace(attention: Implementation, problem: Problem) -> None:
    """A key masked for all queries, and its value, may hold any finite numbers without effect on
    the output.

        o(k, v) = o(k', v')    where they differ only at keys masked for all queries

    M6 requires equal bits, which need the same order of summation in both calls.
    """
    large = LARGE[problem.dtype]
    loud, other = poisoned(problem, large, large), poisoned(problem, -1.0, -large)

    o, p = attention.forward(loud), attention.forward(other)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
    equal(p, o, within=2 * rounding.of_output(problem))


@clause("M30", over=HOLES, catches={"ignores_the_mask", "zeroes_forbidden_scores"}, effort=2)
def key_masked_for_a_query_leaves_no_trace(attention: Implementation, problem: Problem) -> None:
    """A key that is masked for a query, and the key's value, leave no trace in the query's output.

        o_i(k, v) = o_i(k', v')    for finite k', v' that differ only at a key j masked for i

    M21 requires equal bits, which need the same order of summation in both calls.
    """
    blind, other = with_another_key(problem)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem) + rounding.of_output(other)
    equal(np.where(blind, after, 0), np.where(blind, before, 0), within=within)
