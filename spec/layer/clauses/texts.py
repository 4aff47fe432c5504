"""Section L, continued. Batch elements are independent, and tokens have no order.

A layer gives each sequence of a batch the same output as it would alone, with or without a
batch axis. Within a sequence, queries do not affect each other. Self-attention uses one
sequence as query, key and value; without positions, its tokens have no order. Features that
no projection reads have no effect, so keys and values may be wider than necessary.
"""

import numpy as np

from spec.clause import clause
from spec.comparison import equal
from spec.layer import moves
from spec.layer.domain import LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.proofs import exactly, outputs
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets


@clause(
    "L34",
    over=LayerProblems(least=(2, 1, 1, 1)),
    catches={"takes_the_batch_for_the_length", "uses_the_padding_of_the_first_batch"},
    proof=exactly.batch_elements_do_not_meet,
    effort=4,
)
def layer_batch_elements_are_independent(layer: Layer, problem: LayerProblem) -> None:
    """Every batch element gets the same output as it would alone.

        y[b] = y of element b alone

    Some layers put the length axis before the batch axis. If both axes have the same length, the
    shapes do not reveal this mistake.
    """
    y = layer.forward(problem)

    for b in range(problem.B):
        alone = moves.of_batch(problem, b)
        within = budgets(problem).of_output[b : b + 1] + budgets(alone).of_output
        equal(layer.forward(alone), y[b : b + 1], within=within)


@clause(
    "L35",
    over=LayerProblems(hiding=("none", "padding", "mask"), arrays=(3, 2), least=(1, 1, 2, 1)),
    needs={Capability.STILL},
    catches={
        "splits_without_transposing",
        "merges_without_transposing",
        "takes_keys_from_the_queries",
    },
    proof=exactly.queries_do_not_meet,
    effort=2,
)
def permuting_layer_queries_permutes_outputs(layer: Layer, problem: LayerProblem) -> None:
    """Without causality, permuting the queries permutes the outputs in the same way.

        y(query in the order pi, mask rows too) = y in the order pi

    If heads are split or merged wrongly, a query takes columns from its neighbours.
    """
    order = problem.chance().permutation(problem.N)
    moved = moves.of_queries(problem, order)

    y, p = layer.forward(problem), layer.forward(moved)

    within = budgets(problem).of_output[:, order] + budgets(moved).of_output
    equal(p, y[:, order], within=within)


@clause(
    "L36",
    over=LayerProblems(hiding=("none",), arrays=(1,), least=(1, 1, 2, 2)),
    needs={Capability.FUTURE, Capability.STILL},
    catches={"splits_without_transposing", "merges_without_transposing"},
    proof=outputs.tokens_have_no_order,
)
def self_attention_layer_is_permutation_equivariant(layer: Layer, problem: LayerProblem) -> None:
    """In self-attention without positions, permuting the tokens permutes the outputs in the same
    way.

        y(x in the order pi) = y(x) in the order pi

    "How are you" and "you how are" are the same set of tokens. Positions (section R) break this.
    """
    order = problem.chance().permutation(problem.N)
    x = problem.query[:, order]
    moved = problem.but(query=x, key=x, value=x)

    y, p = layer.forward(problem), layer.forward(moved)

    within = budgets(problem).of_output[:, order] + budgets(moved).of_output
    equal(p, y[:, order], within=within)


@clause(
    "L37",
    over=LayerProblems(arrays=(1, 2), own_widths=False),
    needs={Capability.APART},
    catches={
        "takes_values_from_the_keys",
        "takes_keys_from_the_queries",
        "takes_a_memory_for_self_attention",
    },
)
def passing_one_array_equals_passing_copies(layer: Layer, problem: LayerProblem) -> None:
    """Passing one array as several inputs gives the same output as passing copies of it.

        y(x, x, x) = y(x, x', x"),    y(q, x, x) = y(q, x, x')    for copies x', x" of x

    A layer may detect that its inputs are one object and take a shorter path, one for
    self-attention and another for cross-attention. The check also passes three different inputs,
    for which the layer must not take a shorter path.
    """
    copies = problem.but(arrays=3)
    other = copies.but(value=-problem.value, key=problem.key[:, ::-1])

    y, p, z = layer.forward(problem), layer.forward(copies), layer.forward(other)

    equal(p, y, within=budgets(problem).of_output + budgets(copies).of_output)
    equal(z, budgets(other).y, within=budgets(other).of_output)


@clause(
    "L38",
    over=LayerProblems(own_widths=True, arrays=(3,)),
    catches={"projects_with_the_transpose", "takes_values_from_the_keys"},
    proof=outputs.features_that_are_not_read_do_nothing,
    effort=2,
)
def features_with_zero_weights_change_nothing(layer: Layer, problem: LayerProblem) -> None:
    """Extra features of keys and values have no effect if their projection weights are zero.

        y(key, value) = y([key, x], [value, x]; [W_k, 0], [W_v, 0])

    Here x are the extra features. Keys and values may be wider or narrower than queries: W_k has a
    column for each feature of a key, and W_v one for each feature of a value.
    """
    p = problem.parameters
    extra = np.ones((problem.B, problem.M, 1))
    none = np.zeros((len(p.W_k), 1))
    wider = problem.but(
        key=np.concatenate([problem.key, 3 * extra], axis=2),
        value=np.concatenate([problem.value, -extra], axis=2),
        parameters=p.but(
            W_k=np.concatenate([p.W_k, none], axis=1), W_v=np.concatenate([p.W_v, none], axis=1)
        ),
    )

    y, z = layer.forward(problem), layer.forward(wider)

    within = budgets(problem).of_output + budgets(wider).of_output
    equal(z, y, within=within)
    equal(y, budgets(problem).y, within=budgets(problem).of_output)


@clause("L39", over=LayerProblems(unbatched=True), catches={"splits_without_transposing"})
def unbatched_input_equals_batch_of_one(layer: Layer, problem: LayerProblem) -> None:
    """Inputs without a batch axis give the same output as a batch of one.

        y(query, key, value) = y(query[None], key[None], value[None])[0]

    If the length is taken for the batch size, every token becomes a sequence of its own.
    """
    in_a_batch = problem.but(batched=True)

    y, p = layer.forward(problem), layer.forward(in_a_batch)

    within = budgets(problem).of_output
    equal(y, p, within=2 * within)
    equal(y, budgets(problem).y, within=within)
