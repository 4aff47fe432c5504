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

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import ADDITIVE, BOOLEAN, PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import CAUSAL, MASK, Capability, together
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal

MASKED = Problems(masks=BOOLEAN)
BOTH = {Capability.MASK, Capability.BIAS}


@clause(
    "M1", over=MASKED, needs=BOTH, catches={"adds_the_truth_values", "inverts_the_mask"}, effort=2
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
    "M3",
    over=Problems(masks=("all true",)),
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
    over=Problems(masks=(*BOOLEAN, *ADDITIVE)),
    catches={"reads_broadcast_masks_as_written_out"},
    effort=3,
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
    over=Problems(masks=(*BOOLEAN, *ADDITIVE), causal=True),
    needs={Capability.FUTURE},
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
    "M25",
    over=Problems(masks=PLAIN, causal=True),
    needs={Capability.MASK, together(MASK, CAUSAL)},
    catches={"shows_what_both_hide"},
)
def causality_may_be_said_twice(attention: Implementation, problem: Problem) -> None:
    """A mask of the past beside causality adds nothing to it.

        o(mask = not future, causal) = o(causal)

    Code that counts, adds or compares what hides a key goes wrong where both do.
    """
    past, answers = np.logical_not(problem.future), attention.answers
    added = problem.seed % 2 and Capability.BIAS in answers
    twice = problem.but(mask=np.where(past, 0.0, -np.inf) if added else past)

    o, p = attention.forward(problem), attention.forward(twice)

    equal(p, o, within=rounding.of_output(problem) + rounding.of_output(twice))


@clause(
    "M14",
    over=Problems(slopes=False, masks=PLAIN, causal=False, least=(1, 1, 2, 2)),
    needs={Capability.MASK},
    catches={"adds_the_truth_values"},
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
    over=Problems(segments=False, sinks=False, masks=PLAIN, causal=False, square=True),
    needs={Capability.MASK},
    catches={"inverts_the_mask", "forbids_after_normalising"},
    proof=exactly.a_window_of_nothing_copies_the_values,
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
    "M19",
    over=Problems(masks=(*BOOLEAN, *ADDITIVE), tiled="queries"),
    catches={"wraps_mask_rows_at_64", "uses_the_mask_of_the_first_query"},
    effort=2,
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
    over=Problems(masks=("padding",), square=True, least=(1, 1, 2, 2)),
    catches={"hides_padded_queries_too", "lays_padding_along_queries"},
)
def padding_hides_keys_and_not_queries(attention: Implementation, problem: Problem) -> None:
    """A sequence that is padded has fewer keys; its queries attend, padded or not.

        o_i = sum_(j < length) a_ij v_j    for every i < N

    Laid along the rows, padding makes queries idle, and may leave the padded keys in sight.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
