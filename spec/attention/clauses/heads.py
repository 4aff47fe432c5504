"""Section H. Heads do not meet, and a group of them shares its keys.

Each head attends for itself; together they are a batch (Vaswani et al. 2017,
section 3.2.2). With fewer key heads than query heads, query head h reads key
head h // (H / G), in blocks: 0 0 1 1, not 0 1 0 1 (Ainslie et al. 2023, section
2.2). Grouping is nothing but repetition, so the output is that of the keys
repeated, and the gradient of a shared key is the sum over those who share it.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import exactly
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits

SEVERAL = Problems(least=(1, 2, 1, 1), grouped=False)
GROUPED = Problems(grouped=True)


@clause(
    "H1",
    over=SEVERAL,
    catches={
        "normalises_over_heads",
        "splits_heads_without_transposing",
        "merges_heads_without_transposing",
    },
)
def heads_do_not_meet(attention: Implementation, problem: Problem) -> None:
    """What one head holds does not change a bit of another's output.

        o(x)_h = o(y)_h    where x_h = y_h

    Both calls have the same shapes and strides, so equal bits can be asked for. A reshape in the
    place of a transpose deals positions out to heads.
    """
    problem = moves.unshared(problem)
    q, k, v = (x.copy() for x in (problem.q, problem.k, problem.v))
    for x in (q, k, v):
        x[:, 1:] = -np.flip(x[:, 1:], axis=-2)
    other = problem.but(q=q, k=k, v=v)

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
def a_head_is_answered_by_itself(attention: Implementation, problem: Problem) -> None:
    """The output of a head among others is what it would be alone.

        o(x_h alone) = o(x)_h

    H1 looks at the first head, and would accept keys that every head reads from it.
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
def heads_may_be_reordered(attention: Implementation, problem: Problem) -> None:
    """A permutation of the heads permutes the output.

        o(x_p)_h = o(x)_p(h)

    Heads have no order, as queries have none (P2). A mask with rows for each head moves along.
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
def a_group_shares_its_keys(attention: Implementation, problem: Problem) -> None:
    """Grouped heads give what the key heads repeated would, each next to itself.

        o(q, k, v)_h = o(q, repeat(k), repeat(v))_h    h reads h // (H / G)

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
def a_shared_key_gathers_its_gradients(attention: Implementation, problem: Problem) -> None:
    """The gradient of a key head is the sum over the query heads that read it.

        dk_g = sum_(h in g) dk_h,    dv_g = sum_(h in g) dv_h

    This is H4 differentiated: the adjoint of repetition is the sum over the copies. The
    gradients of the queries are the same either way.
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
def groups_may_be_reordered(attention: Implementation, problem: Problem) -> None:
    """A permutation of the key heads permutes the groups of query heads that read them.

        o(x_p)_g = o(x)_p(g)    with g a group of H / G query heads

    This is H3 for groups, which stay together. A query head that reads key head h mod G loses
    its own group on the way.
    """
    order = moves.permutation(problem, problem.G)
    moved = moves.of_groups(problem, order)
    heads = np.arange(problem.H).reshape(problem.G, -1)[order].reshape(-1)

    before, after = attention.forward(problem), attention.forward(moved)

    within = rounding.of_output(problem)[:, heads] + rounding.of_output(moved)
    equal(after, before[:, heads], within=within)
