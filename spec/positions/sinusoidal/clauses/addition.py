"""Section R, continued. Positions are added to tokens, and tell equal tokens apart.

    y_n = x_n + PE(first + n)

What is added does not depend on the token, on its neighbours or on its batch element (R9), so
the derivative by x is the identity (R10). Attention alone is equivariant under
permutations: it cannot tell "how are you" from "you how are". With positions it can:
they stay when tokens move (R11), and equal tokens attend to each other by distance (R12).
"""

import numpy as np

from spec.attention import definition as attention
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.positions.record import Capability
from spec.positions.sinusoidal import definition, rounding
from spec.positions.sinusoidal.domain import Tokens
from spec.positions.sinusoidal.notation import Encoding, Problem


@clause(
    "R8",
    over=Tokens(),
    catches={
        "adds_nothing",
        "multiplies_by_the_table",
        "puts_the_table_beside",
        "scales_tokens_first",
        "counts_batch_elements",
        "drops_the_odd_column",
        "starts_again_behind_a_cache",
    },
)
def positions_are_added(encoding: Encoding, problem: Problem) -> None:
    """Every token is its own numbers plus the row of its position.

        y_bn = x_bn + PE[first + n]

    Neither multiplied nor put beside; and what tokens are scaled by is none of its business.
    """
    y = encoding.add(problem)

    want = definition.add(problem.in_reference())
    equal(y, want, within=rounding.of_sum(problem))


@clause(
    "R9",
    over=Tokens(families=("lattice", "ties")),
    catches={"multiplies_by_the_table", "scales_tokens_first", "counts_batch_elements"},
)
def what_is_added_does_not_depend_on_the_token(encoding: Encoding, problem: Problem) -> None:
    """The difference that a position makes is the same for all tokens and batch elements.

        y(x) - x = PE    whatever x is

    It is compared with the table that the encoding itself shows, so it holds for any table.
    """
    y, table = encoding.add(problem), encoding.table(problem)

    within = rounding.of_sum(problem) + rounding.of_table(problem)
    equal(y - problem.x, np.broadcast_to(table, y.shape), within=within)


@clause(
    "R10",
    over=Tokens(),
    needs={Capability.GRADIENTS},
    catches={"sums_the_gradient_over_the_batch", "differentiates_a_product"},
)
def the_gradient_passes_unchanged(encoding: Encoding, problem: Problem) -> None:
    """The derivative by the tokens is the cotangent, to the bit.

        dx = dout

    Nothing about the positions is learned, and nothing is multiplied on the way back.
    """
    dx = encoding.backward(problem)

    same_bits(dx, problem.dout)


@clause(
    "R11",
    over=Tokens(least=2, families=("lattice", "ties")),
    catches={"adds_nothing", "multiplies_by_the_table", "scales_tokens_first"},
)
def positions_stay_when_tokens_move(encoding: Encoding, problem: Problem) -> None:
    """Tokens that change places leave their positions behind, so order can be seen.

        y(x_t)_n - y(x)_t(n) = PE_n - PE_t(n)    where x_t is x with token t(n) in place n

    Attention gives permuted tokens its permuted output; it would give "you how are" the same
    mean as "how are you". The right side is what breaks that, and it is zero for no two places.
    """
    moved = problem.chance().permutation(problem.N)

    y = encoding.add(problem)
    after = encoding.add(problem.but(x=problem.x[:, moved]))

    table, budget = definition.table(problem.in_reference()), rounding.of_sum(problem)
    want = np.broadcast_to(table - table[moved], y.shape)
    within = rounding.of_sum(problem.but(x=problem.x[:, moved])) + budget[:, moved]
    equal(after - y[:, moved], want, within=within)


@clause(
    "R12",
    over=Tokens(least=2, even=True, near=True),
    catches={"multiplies_by_the_table", "gives_every_column_a_frequency", "halves_the_exponent"},
)
def equal_tokens_attend_by_distance(encoding: Encoding, problem: Problem) -> None:
    """With positions, self-attention tells equal tokens apart: they attend by distance.

        x = 0, q = k = y:    a_ij = softmax_j g(i - j) / sqrt(E),    g(d) = sum_c cos(d theta_c)

    Without positions all scores are equal and every token is the mean of all. This is what
    breaks the symmetry of attention under permutations.
    """
    y = encoding.add(problem.but(x=np.zeros(problem.x.shape)))[0]

    weights = attention.softmax(y @ y.T / np.sqrt(problem.E))
    p = problem.positions
    likeness = definition.likeness(p[:, None] - p, problem.E)
    budget = rounding.of_sum(problem.but(x=np.zeros(problem.x.shape)))[0]
    moved = rounding.of_product(y, y, budget, budget) / np.sqrt(problem.E)
    want = attention.softmax(likeness / np.sqrt(problem.E))
    equal(weights, want, within=rounding.of_weights(want.astype(float), moved))


@clause("R13", over=Tokens(least=2), catches={"keeps_a_wider_table"})
def no_table_is_remembered_wrongly(encoding: Encoding, problem: Problem) -> None:
    """A table for another length or width in between changes nothing, and is itself right.

        y(x), y(z), y(x)    and the last is the first

    Tables are kept from call to call. A key that says too little gives one call the table of
    another.
    """
    width = problem.E - 2 if problem.E > 2 else problem.E
    kept = (slice(None), slice(1, None), slice(width))
    narrow = problem.but(x=problem.x[kept], dout=problem.dout[kept])

    first = encoding.add(problem)
    between = encoding.add(narrow)

    same_bits(encoding.add(problem), first)
    equal(between, definition.add(narrow.in_reference()), within=rounding.of_sum(narrow))
