"""Section M, continued. Nothing follows from what is hidden.

A forbidden key is a deleted key. Whatever finite numbers it holds, and whatever
its value holds, not a bit of the output depends on them, and neither gets any
gradient. That is how padding may be left uninitialised, how a cache may be
longer than its content, and how sequences of strangers may share a batch. NaN
and infinity are harder to ignore, as zero times NaN is NaN: that is a `should`.
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
HOLLOW = ("padding", "tiles")  # masks that hide some key from every query
# What a forbidden key may hold: as large as can be while no product with it overflows.
LARGE = {"float64": 2.0**300, "float32": 2.0**60, "bfloat16": 2.0**60, "float16": 2.0**5}


def unseen(problem: Problem) -> Array:
    """True for a key that every query of every head that reads it is forbidden.   (B, G, M)"""
    seen = problem.allowed.any(axis=2)
    return np.logical_not(definition.gathered(seen.astype(int), problem.G).astype(bool))


def poisoned(problem: Problem, k: float, v: float) -> Problem:
    """The problem with unseen keys and their values replaced by these numbers."""
    hidden = unseen(problem)[..., None]
    return problem.but(k=np.where(hidden, k, problem.k), v=np.where(hidden, v, problem.v))


@clause(
    "M2",
    over=Problems(slopes=False, masks=HOLLOW, causal=False),
    catches={"inverts_the_mask", "adds_the_truth_values"},
    proof=exactly.forbidden_keys_are_deleted_keys,
)
def a_forbidden_key_is_a_deleted_key(attention: Implementation, problem: Problem) -> None:
    """Hiding keys from all queries is the same as not having them.

        o(q, k, v; mask) = o(q, k', v'; mask')    with the primed less the keys hidden from all

    exp(-inf) = 0 adds nothing to either sum. This is what makes padding harmless.
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
    effort=2,
    proof=exactly.forbidden_content_is_not_read,
)
def forbidden_content_does_not_matter(attention: Implementation, problem: Problem) -> None:
    """A key that is hidden from all may hold any finite number, and its value too: not a bit of the
    output changes.

        o(k, v) = o(k', v')    where they differ only at keys hidden from all

    Scores that are large enough outweigh any finite penalty that is added to them.
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
def a_mask_reaches_to_the_last_key(attention: Implementation, problem: Problem) -> None:
    """However many keys there are, the last are hidden if the mask says so, and no others are.

        o_i = sum_(j < M - n) a_ij v_j,    or over j >= M - n alone, for any M

    A mask is read in tiles as keys are, by other code: what lies beyond the last whole tile, or
    beyond the largest size that was thought of, is forgotten in one and not in the other.
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
def forbidden_keys_get_no_gradient(attention: Implementation, problem: Problem) -> None:
    """A key that is hidden from all gets a gradient of exactly zero, and so does its value.

        dk_j = 0,    dv_j = 0    for j forbidden to every query

    This is M6 differentiated in k' and v'. It holds whatever finite numbers they are.
    """
    loud = poisoned(problem, LARGE[problem.dtype], -LARGE[problem.dtype])
    hidden = unseen(loud)[..., None]

    gradients = attention.backward(loud)

    equal(np.where(hidden, gradients.k, 0), np.zeros(loud.k.shape), within=0)
    equal(np.where(hidden, gradients.v, 0), np.zeros(loud.v.shape), within=0)


@clause("M8", over=HOLES, catches={"multiplies_forbidden_values_by_zero"}, force="should")
def forbidden_content_may_be_infinite(attention: Implementation, problem: Problem) -> None:
    """A key that is hidden from all may even hold NaN, and its value too.

        o(k, v) = o(k', v')    where they differ only at keys hidden from all

    Zero times NaN is NaN; a forbidden value is not multiplied by zero but left out.
    """
    o = attention.forward(poisoned(problem, np.nan, np.nan))

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "M18",
    over=Problems(segments=False, masks=PLAIN, causal=False),
    catches={"swallows_nan"},
    force="should",
)
def a_live_nan_is_not_hidden(attention: Implementation, problem: Problem) -> None:
    """A NaN in a query that attends reaches its output, and no other query's.

        q_i = NaN  implies  o_i = NaN,    and o_l stays as it is for l != i

    Making idle rows zero by replacing every NaN hides this one too, and with it its cause.
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


@clause("M21", over=HOLES, catches={"ignores_the_mask", "zeroes_forbidden_scores"}, effort=3)
def a_query_notices_nothing_forbidden_to_it(attention: Implementation, problem: Problem) -> None:
    """A key may be seen by some queries and hidden from others: not a bit of the others' output
    depends on it.

        o_i(k, v) = o_i(k', v')    where they differ at one key j, forbidden to i

    M6 looks at keys that nobody sees, which an implementation may have left out as a whole.
    """
    j = problem.chance().below(problem.M)
    k, v = problem.k.copy(), problem.v.copy()
    k[:, :, j], v[:, :, j] = -k[:, :, j], -v[:, :, j]
    blind = np.logical_not(problem.allowed[..., j])[..., None]

    before, after = attention.forward(problem), attention.forward(problem.but(k=k, v=v))

    same_bits(np.where(blind, after, 0), np.where(blind, before, 0))
