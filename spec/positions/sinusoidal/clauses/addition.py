"""Section R, continued. Adding positions makes equal tokens distinguishable.

    y_n = x_n + PE(first + n)

The added row does not depend on the token, on its neighbours or on its batch element (R9),
so the derivative with respect to x is the identity (R10). Attention alone is equivariant
under permutations: it cannot distinguish "how are you" from "you how are". With positions
it can: they stay in place when tokens are permuted (R11), and the scores of tokens that are
all zero depend on distance (R12).
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
def sinusoidal_positions_are_added_to_tokens(encoding: Encoding, problem: Problem) -> None:
    """The result for each token is the token plus the row of its position.

        y_bn = x_bn + PE[first + n]

    Here PE[p] is the row of position p, and `first` the position of the first token. The row is
    neither multiplied nor concatenated. Scaling the tokens belongs to the embedding, not to this
    function.
    """
    y = encoding.add(problem)

    want = definition.add(problem.in_reference())
    equal(y, want, within=rounding.of_sum(problem))


@clause(
    "R9",
    over=Tokens(families=("lattice", "ties")),
    catches={"multiplies_by_the_table", "scales_tokens_first", "counts_batch_elements"},
)
def added_positions_do_not_depend_on_the_token(encoding: Encoding, problem: Problem) -> None:
    """The row that is added for a position is the same for all tokens and batch elements.

        y(x) - x = PE    whatever x is

    The difference is compared with the table that the implementation itself returns, so the
    clause applies to any table.
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
def gradient_passes_unchanged_through_added_positions(encoding: Encoding, problem: Problem) -> None:
    """The gradient with respect to the tokens is the cotangent, bit for bit.

        dx = dout

    The positions have no learned parameters, and the backward pass multiplies by nothing.
    """
    dx = encoding.backward(problem)

    same_bits(dx, problem.dout)


@clause(
    "R11",
    over=Tokens(least=2, families=("lattice", "ties")),
    catches={"adds_nothing", "multiplies_by_the_table", "scales_tokens_first"},
)
def permuting_tokens_does_not_permute_positions(encoding: Encoding, problem: Problem) -> None:
    """When tokens are permuted, the added rows stay at their positions, so the result depends on
    the order.

        y(x_t)_n - y(x)_t(n) = PE_n - PE_t(n)    where x_t is x with token t(n) at position n

    Here PE_n is the row of position n. Attention alone maps permuted tokens to permuted outputs, so
    the outputs for "you how are" and "how are you" would have the same mean. The right side breaks
    this symmetry: without rounding, it is zero only if t(n) = n.
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
    """With positions added to zero tokens, the scores of self-attention depend only on distance.

        x = 0, q = k = y:    a_ij = softmax_j (g(i - j) / sqrt(E)),    g(d) = sum_c cos(d theta_c)

    Here y is x with positions added, of even width E, and theta_c the frequency of pair c. Without
    positions, all scores are equal and every output is the mean of all tokens. The positions break
    the symmetry of attention under permutations.
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
def no_stale_sinusoidal_table_is_reused(encoding: Encoding, problem: Problem) -> None:
    """A call with another length or width returns the right result, and does not change the result
    of the next call.

        calls y(x), y(z), y(x):    the third result equals the first, to the bit

    Here z is shorter than x and, if x has more than two columns, narrower. Programs keep tables
    from call to call. A program that looks them up without one of the sizes adds the wrong table.
    """
    width = problem.E - 2 if problem.E > 2 else problem.E
    kept = (slice(None), slice(1, None), slice(width))
    narrow = problem.but(x=problem.x[kept], dout=problem.dout[kept])

    first = encoding.add(problem)
    between = encoding.add(narrow)

    same_bits(encoding.add(problem), first)
    equal(between, definition.add(narrow.in_reference()), within=rounding.of_sum(narrow))
