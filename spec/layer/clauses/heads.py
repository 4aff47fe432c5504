"""Section L, continued. Each head uses its own block of every projection.

The concatenated heads are multiplied by W_o, so the output is a sum over heads:
[o_1 ... o_H] W_o^T = sum_h o_h W_o,h^T. One projection that is split into heads equals a
loop over heads with blocks of W. Scores are q_h k_h^T / sqrt(D), so a linear map of a head's
queries changes nothing if its keys undo it. The same holds for its values if W_o undoes the
map. The output does not show this freedom, which physicists call a gauge.
"""

from dataclasses import replace

import numpy as np

from spec.clause import clause
from spec.comparison import equal
from spec.layer import moves
from spec.layer.domain import LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.proofs import outputs
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets
from spec.notation import Array

OF_TWO = LayerProblems(least=(1, 2, 1, 1))


def only(problem: LayerProblem, head: int) -> LayerProblem:
    """The problem whose W_o reads one head only; an output bias is set to zero."""
    W, b = np.zeros_like(problem.parameters.W_o), problem.parameters.b_o
    own = moves.rows(problem, head)
    W[:, own] = problem.parameters.W_o[:, own]
    return problem.of(W_o=W, b_o=None if b is None else np.zeros_like(b))


def powers(problem: LayerProblem) -> Array:
    """A random power of two, of either sign, for every row of a projection.   (A)"""
    chance = problem.chance()
    return 2.0 ** chance.integers(-2, 3, problem.A) * chance.choices((-1, 1), problem.A)


def within_heads(problem: LayerProblem) -> Array:
    """The indices of all rows, permuted within every head.   (A)"""
    chance = problem.chance()
    heads = [chance.permutation(problem.D) + h * problem.D for h in range(problem.H)]
    return np.concatenate(heads)


@clause(
    "L8",
    over=OF_TWO,
    catches={
        "adds_the_output_bias_for_every_head",
        "forgets_the_output_bias",
        "leaves_out_the_output_projection",
    },
    proof=outputs.the_output_is_a_sum_over_heads,
)
def the_output_is_a_sum_over_heads(layer: Layer, problem: LayerProblem) -> None:
    """The output is the sum of what each head contributes through its own columns of W_o, plus the
    output bias.

        [o_1 ... o_H] W_o^T + b_o = sum_h o_h W_o,h^T + b_o

    The bias is added once, not once for every head.
    """
    alone = [only(problem, h) for h in range(problem.H)]

    y, parts = layer.forward(problem), [layer.forward(part) for part in alone]

    b = problem.parameters.b_o
    whole = np.sum(parts, axis=0) + (0 if b is None else b)
    within = budgets(problem).of_output + sum(budgets(part).of_output for part in alone)
    equal(y, whole, within=within)


@clause(
    "L9",
    over=replace(OF_TWO, grouped=False),
    catches={"merges_without_transposing", "gives_heads_every_hth_column"},
    proof=outputs.heads_do_not_meet,
)
def layer_heads_are_independent(layer: Layer, problem: LayerProblem) -> None:
    """The contribution of a head does not depend on the projections of other heads.

        y(W_q, W_k, W_v) = y(W'_q, W'_k, W'_v)    if W_o reads only head h, and the rows of h agree

    The columns of W_o for all other heads are zero here, and the rows of W_q and W_v that belong to
    other heads change their sign. If heads are split or merged wrongly, the columns of head h hold
    a part of another head, and the output changes.
    """
    head = problem.chance().below(problem.H)
    one = only(problem, head)
    foreign = np.ones(problem.A, dtype=bool)
    foreign[moves.rows(problem, head)] = False
    flip = np.where(foreign, -1.0, 1.0)
    other = one.but(parameters=moves.scaled(one.parameters, q=flip, v=flip))

    y, p = layer.forward(one), layer.forward(other)

    equal(p, y, within=budgets(one).of_output + budgets(other).of_output)


@clause(
    "L10",
    over=LayerProblems(
        hiding=("none", "padding", "causal", "mask", "bias"), least=(1, 2, 1, 1), grouped=False
    ),
    catches={"splits_without_transposing", "merges_without_transposing", "joins_heads_in_reverse"},
    proof=outputs.heads_move_with_their_blocks,
)
def permuting_heads_with_their_weights_changes_nothing(layer: Layer, problem: LayerProblem) -> None:
    """Permuting the heads has no effect if their rows and columns of projections move with them.

        y(rows of W_q, W_k, W_v, b_q, b_k, b_v and columns of W_o, by head, in the order pi) = y

    Here pi is any permutation of the heads. The output is a sum over heads (L8), and a sum has no
    order.
    """
    order = problem.chance().permutation(problem.H)
    index = np.arange(problem.A).reshape(problem.H, problem.D)[order].reshape(-1)
    moved = problem.but(parameters=moves.taken(problem.parameters, index))

    y, p = layer.forward(problem), layer.forward(moved)

    equal(p, y, within=budgets(problem).of_output + budgets(moved).of_output)


@clause(
    "L11",
    over=LayerProblems(grouped=False),
    needs={Capability.STILL},
    catches={"loads_keys_before_queries", "projects_values_as_keys", "adds_the_key_bias_to_values"},
    proof=outputs.queries_turn_against_keys,
    effort=2,
)
def rescaling_queries_against_keys_changes_nothing(layer: Layer, problem: LayerProblem) -> None:
    """Multiplying a head's queries by S and its keys by S^-T does not change the output.

        y(S W_q, S b_q; S^-T W_k, S^-T b_k) = y

    S^-T is the transposed inverse: (S q)^T (S^-T k) = q^T k. Any invertible S would do. Here S is
    diagonal, and its entries are powers of two with signs, which do not round. If a projection or a
    bias is used for the wrong input, its factor is not undone.
    """
    by = powers(problem)
    turned = problem.but(parameters=moves.scaled(problem.parameters, q=by, k=1 / by))

    y, p = layer.forward(problem), layer.forward(turned)

    equal(p, y, within=budgets(problem).of_output + budgets(turned).of_output)


@clause(
    "L12",
    over=LayerProblems(grouped=False),
    catches={"merges_without_transposing", "leaves_out_the_output_projection"},
    proof=outputs.values_turn_against_the_output,
)
def rescaling_values_against_W_o_changes_nothing(layer: Layer, problem: LayerProblem) -> None:
    """Scaling and permuting a head's values has no effect if its columns of W_o undo both.

        y(P S W_v, P S b_v; W_o S^-1 P^T) = y

    Here S is diagonal and invertible, and P permutes the D entries of each value. The output of a
    head is linear in its values, so W_o can undo any invertible linear map of them.
    """
    by, order = powers(problem), within_heads(problem)
    p = moves.scaled(problem.parameters, v=by, o=1 / by)
    b = None if p.b_v is None else p.b_v[order]
    turned = problem.but(parameters=p.but(W_v=p.W_v[order], b_v=b, W_o=p.W_o[:, order]))

    y, z = layer.forward(problem), layer.forward(turned)

    equal(z, y, within=budgets(problem).of_output + budgets(turned).of_output)
