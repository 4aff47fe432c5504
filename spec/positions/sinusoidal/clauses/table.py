"""Section R. A sinusoidal table encodes positions as rotation angles.

Pair i of the columns is a unit vector that rotates by theta_i from one position to the
next, like the hand of a clock: PE(p) holds its sine and cosine. The properties of the table
follow from the properties of rotations:

    |pair| = 1                                                        (R3)
    PE(p + k) = R(k) PE(p), the same rotation at every start          (R4)
    <PE(p), PE(q)> = sum_i cos((p - q) theta_i)                       (R5)

The last sine of an odd width has no partner, so these three lines are about even widths. Pair 0
rotates by one radian for each position, and no whole number of radians except 0 is a whole number
of turns. So no two positions have equal rows (R6). A row depends on the position of a token, not
on its index in an array: tokens that follow a cache have the positions first + n (R7).
"""

import numpy as np

from spec.clause import clause
from spec.comparison import at_least, equal, same_bits
from spec.positions import proofs
from spec.positions.angles import BASE, angles
from spec.positions.sinusoidal import definition, rounding
from spec.positions.sinusoidal.domain import Tokens
from spec.positions.sinusoidal.notation import Encoding, Problem


@clause(
    "R1",
    over=Tokens(),
    catches={
        "counts_from_one",
        "starts_again_behind_a_cache",
        "swaps_sine_and_cosine",
        "halves_the_exponent",
        "ends_at_the_base",
        "puts_sines_before_cosines",
        "takes_angles_in_bfloat16",
        "takes_angles_in_float16",
        "drops_the_odd_column",
        "wraps_around_at_its_length",
    },
)
def sinusoidal_table_matches_the_definition(encoding: Encoding, problem: Problem) -> None:
    """The row of a position holds the sines and cosines of its angles, interleaved.

        PE[p, 2i] = sin(p theta_i),    PE[p, 2i + 1] = cos(p theta_i),    theta_i = 10000^(-2i/E)

    Here p is a position, i a pair of columns, and E the width of a token. The exponent is 2i / E
    and not i / E: frequencies fall from 1 towards 1/10000. An odd width ends with a sine. Angles
    must be computed in float32 or wider, even for a table in 16 bits.
    """
    table = encoding.table(problem)

    want = definition.table(problem.in_reference())
    equal(table, want, within=rounding.of_table(problem))


@clause(
    "R2",
    over=Tokens(),
    catches={"counts_from_one", "swaps_sine_and_cosine", "puts_sines_before_cosines"},
)
def sinusoidal_row_of_position_zero_is_exact(encoding: Encoding, problem: Problem) -> None:
    """The row of position zero is 0, 1, 0, 1, ... exactly, bit for bit.

        PE[0] = (0, 1, 0, 1, ...)

    The angle is zero for every frequency, and every format represents sin 0 and cos 0 exactly.
    """
    row = encoding.table(problem.tokens(slice(0, 1)).but(first=0))

    same_bits(row, (np.arange(problem.E) % 2)[None, :].astype(row.dtype))


@clause(
    "R3",
    over=Tokens(even=True),
    catches={
        "gives_every_column_a_frequency",
        "shifts_a_sine_for_the_cosine",
        "puts_sines_before_cosines",
    },
    proof=proofs.a_hand_has_length_one,
)
def sinusoidal_pairs_have_unit_length(encoding: Encoding, problem: Problem) -> None:
    """The sine and cosine of each pair form a vector of length one, so a row of even width E has
    the squared length E / 2.

        PE[p, 2i]^2 + PE[p, 2i + 1]^2 = 1

    Here PE[p] is the row of position p, and 2i and 2i + 1 are the columns of pair i. This holds for
    any angle, even a badly rounded one, as long as sine and cosine use the same angle. The error
    bound is therefore a few units of rounding at any position.
    """
    table = encoding.table(problem)

    squares = table[:, 0::2] ** 2 + table[:, 1::2] ** 2
    equal(squares, 1, within=rounding.of_length(problem))


@clause(
    "R4",
    over=Tokens(least=2, even=True, near=True),
    catches={"swaps_sine_and_cosine", "gives_every_column_a_frequency", "halves_the_exponent"},
    proof=proofs.moving_on_is_a_turn,
)
def shifting_positions_rotates_sinusoidal_rows(encoding: Encoding, problem: Problem) -> None:
    """The row k positions later is the same row with pair i rotated by k theta_i.

        PE(p + k) = R(k) PE(p),    R(k) (sin a, cos a) = (sin(a + k theta_i), cos(a + k theta_i))

    Here PE(p) is the row of position p, of even width, and theta_i the angle by which pair i
    rotates from one position to the next. R(k) does not depend on p. So a query projection can
    contain R(-k), and every query then attends k positions back.
    """
    k = problem.chance().randrange(1, problem.N)

    table = encoding.table(problem)

    turn = angles(np.array(k), problem.E, BASE, np.longdouble)
    budget = rounding.of_table(problem)
    within = budget[k:] + rounding.turned(budget[:-k])
    equal(table[k:], definition.turned(table[:-k], turn), within=within)


@clause(
    "R5",
    over=Tokens(even=True, near=True),
    catches={"gives_every_column_a_frequency", "halves_the_exponent"},
    proof=proofs.likeness_depends_on_distance,
)
def sinusoidal_inner_products_depend_on_distance(encoding: Encoding, problem: Problem) -> None:
    """The inner product of two rows of even width depends only on the distance of their positions.

        <PE(p), PE(q)> = sum_i cos((p - q) theta_i)

    Here theta_i is the angle by which pair i rotates from one position to the next. The matrix of
    all inner products is therefore a Toeplitz matrix, with E / 2 on its diagonal for width E. The
    last sine of an odd width has no partner, and its products depend on both positions.
    """
    table = encoding.table(problem)

    p = problem.positions
    budget = rounding.of_table(problem)
    want = definition.likeness(p[:, None] - p, problem.E)
    equal(table @ table.T, want, within=rounding.of_product(table, table, budget, budget))


@clause(
    "R6",
    over=Tokens(least=2, even=True),
    catches={"wraps_around_at_its_length", "takes_angles_in_bfloat16"},
    effort=2,
)
def sinusoidal_rows_of_two_positions_differ(encoding: Encoding, problem: Problem) -> None:
    """Two rows of even width are at least as far apart as the formula says, up to rounding.

        |PE(p) - PE(q)|^2 = 4 sum_i sin^2((p - q) theta_i / 2) > 0    for p != q

    Here theta_i is the angle by which pair i rotates from one position to the next. A table that is
    too short and wraps around gives two tokens the same row. So does a format that cannot represent
    the position. Tables often have a power of two as their length, so the clause compares positions
    at distances that are powers of two.
    """
    apart = 2 ** np.arange(int(np.log2(problem.N - 1)) + 1)
    one = problem.chance().integers(0, problem.N - apart)

    table = encoding.table(problem)

    half = angles(apart, problem.E, BASE, np.longdouble) / 2
    want = 2 * np.sqrt((np.sin(half) ** 2).sum(axis=-1))
    budget = rounding.of_table(problem)
    within = rounding.longest(budget[one] + budget[one + apart])
    at_least(rounding.longest(table[one + apart] - table[one]), want, within=within)


@clause(
    "R7",
    over=Tokens(offset=True, least=2),
    catches={"starts_again_behind_a_cache", "is_a_row_late_behind_a_cache"},
)
def sinusoidal_rows_continue_after_a_cache(encoding: Encoding, problem: Problem) -> None:
    """Tokens that follow a KV cache get the rows that they have in the whole sequence.

        table(first, N)_n = table(0, first + N)_(first + n)

    Here table(first, N) has the rows of N positions from `first`, the number of cached tokens.
    Decoding adds one token at a time, and the token array alone does not reveal its position.
    """
    t = problem.chance().randrange(1, problem.N)
    text = problem.but(first=0)
    later = text.tokens(slice(t, problem.N))

    whole, part = encoding.table(text), encoding.table(later)

    within = rounding.of_table(text)[t:] + rounding.of_table(later)
    equal(part, whole[t:], within=within)
