"""Section H. Heads are independent, and a group of query heads shares one key head.

Each head attends separately; together they form a batch (Vaswani et al. 2017,
section 3.2.2). With fewer key heads than query heads, query head h reads key
head h // (H / G), in blocks: 0 0 1 1, not 0 1 0 1 (Ainslie et al. 2023, section
2.2). Grouping is only repetition. The output is that of the repeated keys, and the
gradient of a shared key is the sum over the query heads that share it.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits

SEVERAL = Problems(least=(1, 2, 1, 1), grouped=False)
GROUPED = Problems(grouped=True)


def with_other_heads(problem: Problem) -> tuple[Problem, Problem]:
    """The problem, and one of the same shapes and strides with other heads but the first."""
    problem = moves.unshared(problem)
    q, k, v = (x.copy() for x in (problem.q, problem.k, problem.v))
    for x in (q, k, v):
        x[:, 1:] = -np.flip(x[:, 1:], axis=-2)
    return problem, problem.but(q=q, k=k, v=v)


@clause(
    "H1",
    over=SEVERAL,
    catches={
        "normalises_over_heads",
        "splits_heads_without_transposing",
        "merges_heads_without_transposing",
    },
    promise="order",
)
def heads_are_independent(attention: Implementation, problem: Problem) -> None:
    """The inputs of one head do not change a bit of another head's output.

        o(x)_h = o(y)_h    where x_h = y_h

    Both calls have the same shapes and strides, so the bits must be equal. A reshape where a
    transpose is needed mixes positions with heads.
    """
    problem, other = with_other_heads(problem)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(after[:, :1], before[:, :1])


@clause(
    "H2",
    over=SEVERAL,
    catches={
        "reads_the_first_key_head",
        "divides_heads_by_key_heads",
        "splits_heads_without_transposing",
    },
)
def head_computed_alone_gives_the_same_output(attention: Implementation, problem: Problem) -> None:
    """A head that is computed alone gives the same output as it does together with other heads.

        o(x_h alone) = o(x)_h

    H1 checks only the first head. It would accept a function in which every head reads the keys of
    the first head.
    """
    last = [problem.G - 1]
    alone = moves.of_groups(problem, last)

    many, one = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[:, last] + rounding.of_output(alone)
    equal(one, many[:, last], within=within)


@clause(
    "H3",
    over=SEVERAL,
    catches={"reads_the_first_key_head", "merges_heads_without_transposing"},
    proof=exactly.heads_permute,
)
def permuting_heads_permutes_the_output(attention: Implementation, problem: Problem) -> None:
    """A permutation of the heads permutes the output in the same way.

        o(x_p)_h = o(x)_p(h)

    Here x_p are all inputs with their heads in the order p. Sinks, slopes, and a mask that differs
    between heads are permuted too. Heads have no order, just as queries have none (P2).
    """
    order = moves.permutation(problem, problem.H)
    moved = moves.of_groups(problem, order)

    before, after = attention.forward(problem), attention.forward(moved)

    within = rounding.of_output(problem)[:, order] + rounding.of_output(moved)
    equal(after, before[:, order], within=within)


@clause(
    "H4",
    over=GROUPED,
    catches={"tiles_key_heads", "bounds_packed_rows", "divides_heads_by_key_heads"},
    effort=2,
    proof=exactly.grouped_heads_are_repeated_heads,
)
def grouped_query_attention_equals_repeated_key_heads(
    attention: Implementation, problem: Problem
) -> None:
    """Grouped-query attention equals attention with each key head repeated for its query heads.

        o(q, k, v)_h = o(q, repeat(k), repeat(v))_h    where h reads key head h // (H / G)

    Repeating each key head is not tiling them: 0 0 1 1 and 0 1 0 1 differ as soon as 1 < G < H.
    """
    repeated = moves.of_one_key_head_each(problem)

    o, p = attention.forward(problem), attention.forward(repeated)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(repeated))


@clause(
    "H5",
    over=GROUPED,
    needs={Capability.GRADIENTS},
    catches={
        "takes_one_head_of_each_group",
        "averages_over_each_group",
        "gathers_interleaved_heads",
    },
    proof=exactly.gradients_of_shared_heads_add_up,
)
def shared_key_head_gradient_sums_over_its_group(
    attention: Implementation, problem: Problem
) -> None:
    """The gradient of a key head is the sum of the gradients from all query heads that read it.

        dk_g = sum_(h in g) dk_h,    dv_g = sum_(h in g) dv_h    where each h has its own copy of g

    This is H4 differentiated: the adjoint of repetition is the sum over the copies. The gradients
    of the queries are the same either way.
    """
    repeated = moves.of_one_key_head_each(problem)

    shared, each = attention.backward(problem), attention.backward(repeated)

    here, there = rounding.of_gradients(problem), rounding.of_gradients(repeated)
    G = problem.G
    within = here.k + definition.gathered(there.k, G)
    equal(shared.k, definition.gathered(each.k, G), within=within)
    within = here.v + definition.gathered(there.v, G)
    equal(shared.v, definition.gathered(each.v, G), within=within)
    equal(shared.q, each.q, within=here.q + there.q)


@clause("H6", over=GROUPED, catches={"tiles_key_heads", "reads_the_first_key_head"})
def permuting_key_heads_permutes_query_head_groups(
    attention: Implementation, problem: Problem
) -> None:
    """Permuting the key heads, each with its group of query heads, permutes the output likewise.

        o(x_p)_g = o(x)_p(g)    with g a group of H / G query heads

    Here x_p are all inputs, with key heads and groups of query heads in the order p. This is H3 for
    whole groups. The clause catches a function in which query head h reads key head h mod G,
    because that separates query heads from their key head.
    """
    order = moves.permutation(problem, problem.G)
    moved = moves.of_groups(problem, order)
    heads = np.arange(problem.H).reshape(problem.G, -1)[order].reshape(-1)

    before, after = attention.forward(problem), attention.forward(moved)

    within = rounding.of_output(problem)[:, heads] + rounding.of_output(moved)
    equal(after, before[:, heads], within=within)


@clause(
    "H9",
    over=SEVERAL,
    catches={
        "normalises_over_heads",
        "splits_heads_without_transposing",
        "merges_heads_without_transposing",
    },
)
def other_heads_leave_no_trace(attention: Implementation, problem: Problem) -> None:
    """The inputs of one head leave no trace in another head's output.

        o(x)_h = o(y)_h    where x_h = y_h

    H1 asks for equal bits, which need the same order of summation in both calls.
    """
    problem, other = with_other_heads(problem)

    before, after = attention.forward(problem), attention.forward(other)

    within = rounding.of_output(problem)[:, :1] + rounding.of_output(other)[:, :1]
    equal(after[:, :1], before[:, :1], within=within)


@clause(
    "H10",
    over=Problems(
        least=(1, 2, 1, 1), grouped=False, tiled="keys", masks=PLAIN, families=("normal",)
    ),
    needs={Capability.SEVERAL},
    catches={"splits_keys_of_the_first_head"},
    effort=2,
    promise="order",
)
def permuting_heads_moves_their_bits(attention: Implementation, problem: Problem) -> None:
    """A permutation of the heads permutes the output in the same way, bit for bit.

        o(x_p)_h = o(x)_p(h)    for a permutation p of the heads

    Here x_p are all inputs with their heads in the order p. The clause catches a program that sums
    in another order for the first or the last head. H3 allows rounding errors.
    """
    order = moves.permutation(problem, problem.H)
    moved = moves.of_heads(moves.of_groups(problem, order), slice(None))

    before, after = attention.forward(problem), attention.forward(moved)

    same_bits(after, before[:, order])
