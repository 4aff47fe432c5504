"""Section M. The forbidden does not exist.

A mask does not weaken a key, it removes it: a problem with forbidden keys is the
problem without them. Whatever a forbidden key or its value holds, nothing
follows from it, to the bit; and it receives no gradient. There is one meaning
and there are many forms: a boolean mask (True = may attend), an additive one
with 0 and -inf, each along all axes or broadcast, and masks that combine by
intersection, with causality too.

A finite penalty such as -1e4 is not a mask. It is added to the scores after the
scale, and scores that are large enough see through it.
"""

from __future__ import annotations

import numpy as np

from spec import definition, moves, proofs, rounding
from spec.clause import at_least, clause, equal, holds, same_bits
from spec.implementation import Capability, Implementation
from spec.notation import Array, Problem
from spec.problems import ADDITIVE, BOOLEAN, LIVE, PLAIN, problems

MASKED = problems(masks=BOOLEAN)
HOLES = problems(masks=(*BOOLEAN, "additive with holes", "additive idle"))
HOLLOW = ("padding", "tiles")  # masks that hide some key from every query
# What a forbidden key may hold: as large as can be while no product with it overflows.
LARGE = {"float64": 2.0**300, "float32": 2.0**60, "bfloat16": 2.0**60, "float16": 2.0**5}
BOTH = {Capability.MASK, Capability.BIAS}


def unseen(problem: Problem) -> Array:
    """True for a key that every query of every head that reads it is forbidden.   (B, G, M)"""
    seen = problem.allowed.any(axis=2)
    return np.logical_not(definition.gathered(seen.astype(int), problem.G).astype(bool))


def poisoned(problem: Problem, k: float, v: float) -> Problem:
    """The problem with unseen keys and their values replaced by these numbers."""
    hidden = unseen(problem)[..., None]
    return problem.but(k=np.where(hidden, k, problem.k), v=np.where(hidden, v, problem.v))


@clause(
    "M1",
    over=MASKED,
    needs=BOTH,
    catches={
        "adds_the_truth_values",
        "inverts_the_mask",
        "adds_a_finite_fill_for_each",
        "adds_the_lowest_number_for_each",
    },
    effort=2,
)
def a_boolean_mask_is_an_additive_one(attention: Implementation, problem: Problem) -> None:
    """True and False are 0 and -inf.

        o(mask) = o(bias = 0 where mask, -inf elsewhere)

    Truth values that are added as they are make a bias of 1 and 0, which hides nothing.
    """
    assert problem.mask is not None
    additive = problem.but(mask=np.where(problem.mask, 0.0, -np.inf))

    o, p = attention.forward(problem), attention.forward(additive)

    equal(p, o, within=rounding.of_output(problem) + rounding.of_output(additive))


@clause(
    "M2",
    over=problems(masks=HOLLOW, causal=False),
    catches={"inverts_the_mask", "adds_the_truth_values"},
    proof=proofs.forbidden_keys_are_deleted_keys,
)
def a_forbidden_key_is_a_deleted_key(attention: Implementation, problem: Problem) -> None:
    """Hiding keys from all queries is the same as not having them.

        o(q, k, v; mask) = o(q, k', v'; mask')    with the primed less the keys hidden from all

    exp(-inf) = 0 adds nothing to either sum. This is what makes padding harmless.
    """
    first = moves.of_groups(moves.of_batch(problem, [0]), [0])
    kept = np.flatnonzero(~unseen(first)[0, 0])
    if not kept.size:  # all keys are hidden: the output is that of idle queries
        kept = np.array([0])
    deleted = moves.of_keys(first, kept)

    whole, part = attention.forward(first), attention.forward(deleted)

    equal(part, whole, within=rounding.of_output(first) + rounding.of_output(deleted))


@clause(
    "M3",
    over=problems(masks=("all true",)),
    catches={
        "inverts_the_mask",
        "forgets_causality_without_a_mask",
        "lets_the_mask_replace_causality",
    },
)
def a_mask_that_hides_nothing_is_no_mask(attention: Implementation, problem: Problem) -> None:
    """A mask of True everywhere may be left out.

        o(mask = True) = o

    An option that does nothing must not switch off another, such as causality.
    """
    bare = problem.but(mask=None)

    o, p = attention.forward(problem), attention.forward(bare)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(bare))


@clause(
    "M4",
    over=problems(masks=(*BOOLEAN, *ADDITIVE)),
    catches={"stumbles_over_leading_idle_queries", "gives_idle_queries_nan"},
)
def a_broadcast_mask_is_the_mask_written_out(attention: Implementation, problem: Problem) -> None:
    """A mask in any broadcast form means the same as the mask written out.

        o(mask) = o(mask broadcast to (B, H, N, M))

    An offset that is computed as if every axis were written out reads another row.
    """
    assert problem.mask is not None
    shape = (problem.B, problem.H, problem.N, problem.M)
    full = problem.but(mask=np.broadcast_to(problem.mask, shape).copy(), memory="contiguous")

    o, p = attention.forward(problem), attention.forward(full)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(full))


@clause(
    "M5",
    over=problems(masks=(*BOOLEAN, *ADDITIVE), causal=True),
    catches={
        "lets_causality_replace_the_mask",
        "lets_the_mask_replace_causality",
        "allows_what_either_allows",
    },
)
def a_mask_and_causality_intersect(attention: Implementation, problem: Problem) -> None:
    """A mask and causality together allow what both allow.

        o(mask, causal) = o(mask and not future)

    A mask that replaces causality, or is replaced by it, is right while each is tested alone.
    """
    written = moves.written_out(problem)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


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
    proof=proofs.forbidden_content_is_not_read,
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
    "M7",
    over=HOLES,
    needs={Capability.GRADIENTS},
    catches={"differentiates_without_the_mask"},
    proof=proofs.forbidden_keys_have_no_gradient,
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
    "M13",
    over=problems(masks=LIVE),
    needs={Capability.LSE},
    catches={"forgets_the_maximum_in_lse"},
    effort=2,
)
def more_keys_mean_a_larger_log_sum_exp(attention: Implementation, problem: Problem) -> None:
    """Hiding keys never makes the log-sum-exp larger.

        lse(mask) <= lse(mask')    if mask' allows all that mask allows, with the same biases

    Every key adds a positive term to the sum. Forgetting the maximum can reverse this.
    """
    freed = problem.but(mask=np.where(problem.allowed, problem.bias, 0.0), causal=False)
    if problem.mask is not None and problem.mask.dtype == bool:
        freed = problem.but(mask=None)

    less, more = attention.lse(problem), attention.lse(freed)

    at_least(more, less, within=rounding.of_lse(problem) + rounding.of_lse(freed))


@clause(
    "M14",
    over=problems(masks=PLAIN, causal=False, least=(1, 1, 2, 2)),
    needs={Capability.MASK},
    catches={"adds_the_truth_values", "keeps_stale_keys"},
)
def blocks_are_separate_sequences(attention: Implementation, problem: Problem) -> None:
    """Sequences packed into one, with a mask that keeps them apart, are separate sequences.

        o([x, y]; block diagonal) = [o(x), o(y)]

    This is M2 for each half of the queries. Without the mask one sequence reads the other.
    """
    n, m = (problem.N + 1) // 2, (problem.M + 1) // 2
    blocks = (np.arange(problem.N) < n)[:, None] == (np.arange(problem.M) < m)[None, :]
    packed = problem.but(mask=blocks)
    first = moves.of_keys(moves.of_queries(problem, slice(0, n)), slice(0, m))
    second = moves.of_keys(moves.of_queries(problem, slice(n, None)), slice(m, None))

    o, parts = attention.forward(packed), [attention.forward(x) for x in (first, second)]

    within = np.concatenate([rounding.of_output(x) for x in (first, second)], axis=2)
    equal(o, np.concatenate(parts, axis=2), within=within + rounding.of_output(packed))


@clause(
    "M15",
    over=problems(masks=PLAIN, causal=False, square=True),
    needs={Capability.MASK},
    catches={"inverts_the_mask", "forbids_after_normalising"},
    proof=proofs.a_window_of_nothing_copies_the_values,
)
def who_sees_only_itself_returns_its_value(attention: Implementation, problem: Problem) -> None:
    """In a window of one, every query returns the value at its own place.

        o_i = v_i    if i may attend to i alone

    The one key that is left has weight one (S1), unless the mask comes after normalising.
    """
    window = problem.but(mask=np.eye(problem.N, dtype=bool))

    o = attention.forward(window)

    equal(o, definition.shared(window.v, window.H), within=rounding.of_output(window))


@clause(
    "M16",
    over=problems(masks=ADDITIVE),
    needs={Capability.SCALE},
    catches={
        "scales_the_bias_too",
        "rounds_the_bias_to_bfloat16",
        "drops_the_finite_bias",
        "subtracts_the_bias",
    },
    effort=2,
)
def a_bias_is_not_scaled(attention: Implementation, problem: Problem) -> None:
    """A bias is added after the scale, so the scale does not touch it.

        o(q = 0; bias, scale) = o(q = 0; bias, scale')

    A dropped bias does not depend on the scale either, so the output is checked by itself too.
    """
    here = problem.but(q=np.zeros_like(problem.q), scale=0.25)
    there = here.but(scale=2.0)

    o, p = attention.forward(here), attention.forward(there)

    equal(o, p, within=rounding.of_output(here) + rounding.of_output(there))
    equal(o, rounding.reference(here).o, within=rounding.of_output(here))


@clause(
    "M17",
    over=problems(masks=ADDITIVE),
    needs={Capability.GRADIENTS, Capability.BIAS_GRADIENT},
    catches={"drops_the_row_term", "differentiates_softmax_by_element"},
    proof=proofs.bias_gradients_add_to_nothing,
)
def bias_gradients_sum_to_zero(attention: Implementation, problem: Problem) -> None:
    """A constant added to a row does nothing, so the gradients of a row of biases sum to zero.

        sum_j db_ij = 0

    This is S5 differentiated in c, and S13 seen from outside.
    """
    full = moves.written_out(problem)

    db = attention.bias_gradient(full)

    budget = rounding.of_gradients(full).bias
    assert budget is not None
    equal(db.sum(axis=-1), np.zeros(db.shape[:-1]), within=budget.sum(axis=-1))


@clause("M18", over=problems(masks=PLAIN, causal=False), catches={"swallows_nan"}, force="should")
def a_live_nan_is_not_hidden(attention: Implementation, problem: Problem) -> None:
    """A NaN in a query that attends reaches its output, and no other query's.

        q_i = NaN  implies  o_i = NaN,    and o_l stays as it is for l != i

    Making idle rows zero by replacing every NaN hides this one too, and with it its cause.
    """
    i = int(problem.chance().integers(problem.N))
    q = problem.q.copy()
    q[:, :, i] = np.nan
    o = attention.forward(problem.but(q=q))

    lost = ~np.isnan(o[:, :, i])
    holds(not lost.any(), f"query {i} is NaN and its output is not")
    others = np.arange(problem.N) != i
    want, within = rounding.reference(problem).o, rounding.of_output(problem)
    equal(o[:, :, others], want[:, :, others], within=within[:, :, others])


@clause(
    "M19",
    over=problems(masks=(*BOOLEAN, *ADDITIVE), tiled="queries"),
    catches={"wraps_mask_rows_at_64", "uses_the_mask_of_the_first_query"},
)
def every_row_has_its_own_mask(attention: Implementation, problem: Problem) -> None:
    """However many queries there are, each is masked by its own row.

        o_i = sum_j a_ij v_j,    a_ij = 0 where j is forbidden to i, for any N

    An offset that overflows, or a row read for all, needs many queries to show.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "M20",
    over=problems(masks=("padding",), square=True, least=(1, 1, 2, 2)),
    catches={"hides_padded_queries_too", "lays_padding_along_queries"},
)
def padding_hides_keys_and_not_queries(attention: Implementation, problem: Problem) -> None:
    """A sequence that is padded has fewer keys; its queries attend, padded or not.

        o_i = sum_(j < length) a_ij v_j    for every i < N

    Laid along the rows, padding makes queries idle, and may leave the padded keys in sight.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
