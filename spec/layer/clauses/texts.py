"""Section L, continued. Texts do not meet, and a text without positions is a set of tokens.

A batch is texts side by side, and a layer gives each what it would get alone, in a batch or
not. Within a text, queries ask one by one. Self-attention puts one text in three places, and
without positions it cannot tell in which order the tokens come. What no projection reads is
not there, so keys and values may be wider than they need be.
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
def batch_elements_of_a_layer_do_not_meet(layer: Layer, problem: LayerProblem) -> None:
    """Every element of a batch gets what it would get alone.

        y[b] = y of element b

    Length before batch is another convention of layers, and no shape tells when they are equal.
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
def queries_of_a_layer_do_not_meet(layer: Layer, problem: LayerProblem) -> None:
    """Queries in another order give the outputs in that order.

        y(query in the order pi, mask rows too) = y in the order pi

    A query that is split or joined wrongly takes columns from its neighbours.
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
def tokens_without_positions_have_no_order(layer: Layer, problem: LayerProblem) -> None:
    """In self-attention, tokens in another order give the same outputs in that order.

        y(x in the order pi) = y(x) in the order pi

    "How are you" and "you how are" are the same set of tokens. Positions (R) break this.
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
def one_array_is_as_good_as_copies(layer: Layer, problem: LayerProblem) -> None:
    """One array that is several inputs gives what copies of it give.

        y(x, x, x) = y(x, x', x"),    y(q, x, x) = y(q, x, x')    for copies x', x" of x

    A layer may notice that its inputs are one object, and take a shorter path: one in
    self-attention, another where a decoder reads an encoder. Values of their own are looked at
    too, which the shorter paths must not.
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
def a_feature_that_is_not_read_does_nothing(layer: Layer, problem: LayerProblem) -> None:
    """Keys and values may have features that no projection reads.

        y(key, value) = y([key, x], [value, x]; [W_k, 0], [W_v, 0])

    Keys and values of widths of their own are projected from those widths.
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
def a_text_need_not_stand_in_a_batch(layer: Layer, problem: LayerProblem) -> None:
    """A text without a batch axis gives what a batch of one gives.

        y(query, key, value) = y(query[None], key[None], value[None])[0]

    A length that is taken for a batch makes every token a text of its own.
    """
    in_a_batch = problem.but(batched=True)

    y, p = layer.forward(problem), layer.forward(in_a_batch)

    within = budgets(problem).of_output
    equal(y, p, within=2 * within)
    equal(y, budgets(problem).y, within=within)
