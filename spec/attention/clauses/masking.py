"""Section M. Masked keys have no influence.

A mask does not weaken a key, it removes it: a problem with masked keys equals the
problem without them. The contents of a masked key and its value change no bit of the
output, and both receive no gradient. A mask has one meaning and many forms. It may be
boolean (True = may attend) or additive (0 and -inf), and each of its axes may be
written out or broadcast. Masks combine by intersection, with causality too.

A finite penalty such as -1e4 is not a mask. It is added to the scores after the
scale, and a key with a large enough score stays visible.
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
def boolean_mask_equals_additive_mask(attention: Implementation, problem: Problem) -> None:
    """A boolean mask equals an additive mask with 0 for True and -inf for False.

        o(mask) = o(bias = 0 where mask, -inf elsewhere)

    Code that adds the booleans as numbers makes a bias of 1 and 0, which masks nothing.
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
def all_true_mask_changes_nothing(attention: Implementation, problem: Problem) -> None:
    """A mask that is True everywhere gives the same output as no mask.

        o(mask = True) = o

    An option that has no effect must not switch off another option, such as causality.
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
def broadcast_mask_equals_expanded_mask(attention: Implementation, problem: Problem) -> None:
    """A mask in any broadcast form gives the same output as the mask written out in full.

        o(mask) = o(mask broadcast to (B, H, N, M))

    Code that computes offsets as if every axis were written out reads the wrong row.
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
def mask_and_causality_intersect(attention: Implementation, problem: Problem) -> None:
    """With a mask and causality together, a query attends only to the keys that both allow.

        o(mask, causal) = o(mask and not future)

    If one of the two replaces the other, tests of each option alone still pass.
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
def causal_mask_adds_nothing_to_causal_flag(attention: Implementation, problem: Problem) -> None:
    """A causal mask together with the causal flag gives the same output as the flag alone.

        o(mask = not future, causal) = o(causal)

    Code that counts, adds or compares the reasons to mask a key goes wrong where both apply.
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
def block_diagonal_mask_separates_sequences(attention: Implementation, problem: Problem) -> None:
    """Sequences packed with a block-diagonal mask give the same outputs as separate calls.

        o([x, y]; block diagonal) = [o(x), o(y)]

    Here x and y are the inputs of two sequences. For the queries of x, masking the keys of y has
    the same effect as deleting them (M2), and vice versa. Without the mask, each sequence would
    attend to the other one.
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
def diagonal_mask_returns_the_values(attention: Implementation, problem: Problem) -> None:
    """A query that may attend only to the key of the same index returns the value of that key.

        o_i = v_i    if query i may attend to key i alone

    The only remaining key has weight one (S1). If a mask is applied after normalising, that key
    keeps the smaller weight that it had among all keys.
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
def each_query_uses_its_own_mask_row(attention: Implementation, problem: Problem) -> None:
    """Each query is masked by its own row of the mask, however many queries there are.

        o_i = sum_j a_ij v_j,    a_ij = 0 where j is masked for i, for any N

    The clause catches an offset that overflows with many queries, and one row used for all queries.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "M20",
    over=Problems(masks=("padding",), square=True, least=(1, 1, 2, 2)),
    catches={"hides_padded_queries_too", "lays_padding_along_queries"},
)
def padding_mask_removes_keys_not_queries(attention: Implementation, problem: Problem) -> None:
    """A padding mask removes keys and no queries: a query in the padding attends like any other.

        o_i = sum_(j < m) a_ij v_j    for every i < N, if keys m to M - 1 are padding

    A padding mask that is applied along the queries makes some of them fully masked, and may leave
    the padded keys visible.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
