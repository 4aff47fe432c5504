"""Section R. A sinusoidal table writes positions as clocks.

Pair i of the columns is the hand of a clock that turns by theta_i from one position to
the next: PE(p) holds its sine and cosine. All laws of the table are laws of turning:

    |hand| = 1                                                        (R3)
    PE(p + k) = R(k) PE(p), the same turn wherever it starts          (R4)
    <PE(p), PE(q)> = sum_i cos((p - q) theta_i)                       (R5)

The slowest hand takes 2 pi 10000 positions to come round, so no two positions of
any text look alike (R6). And a row belongs to its position, not to its place in an
array: tokens that follow a cache are first + n (R7).
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
def the_table_is_sine_and_cosine(encoding: Encoding, problem: Problem) -> None:
    """The row of a position holds the sines and cosines that the definition says.

        PE[p, 2i] = sin(p theta_i),    PE[p, 2i + 1] = cos(p theta_i),    theta_i = 10000^(-2i/E)

    The exponent is 2i / E and not i / E: frequencies fall from 1 to nearly 1/10000 over all
    columns. An odd width ends with a sine. Angles are taken in float32 at least.
    """
    table = encoding.table(problem)

    want = definition.table(problem.in_reference())
    equal(table, want, within=rounding.of_table(problem))


@clause(
    "R2",
    over=Tokens(),
    catches={"counts_from_one", "swaps_sine_and_cosine", "puts_sines_before_cosines"},
)
def position_zero_is_noon(encoding: Encoding, problem: Problem) -> None:
    """The first row is zero, one, zero, one, to the bit.

        PE[0] = (0, 1, 0, 1, ...)

    The angle is zero for every frequency, and sin 0 and cos 0 are numbers of every format.
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
def every_hand_has_length_one(encoding: Encoding, problem: Problem) -> None:
    """Sine and cosine of a pair have length one together; a row has the square length E / 2.

        PE[p, 2i]^2 + PE[p, 2i + 1]^2 = 1

    This holds for any angle, so rounding of the angle is no excuse, as long as sine and cosine
    are of the same one: the budget is a few units at any position.
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
def moving_on_is_a_turn(encoding: Encoding, problem: Problem) -> None:
    """The row k positions on is the row, each pair of it turned by k theta_i.

        PE(p + k) = R(k) PE(p),    R(k) (sin a, cos a) = (sin(a + k theta_i), cos(a + k theta_i))

    The same turn wherever it starts: this is why a linear map can look k positions back.
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
def likeness_depends_on_distance(encoding: Encoding, problem: Problem) -> None:
    """The inner product of two rows depends on their distance alone.

        <PE(p), PE(q)> = sum_i cos((p - q) theta_i)

    The Gram matrix is a Toeplitz matrix with E / 2 on its diagonal.
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
def no_two_positions_look_alike(encoding: Encoding, problem: Problem) -> None:
    """Two rows are as far from each other as their distance says, and never equal.

        |PE(p) - PE(q)|^2 = 4 sum_i sin^2((p - q) theta_i / 2) > 0    for p != q

    A table that is too short and starts again, or positions that a format cannot count, give two
    tokens the same row. Tables have round lengths, so q is a power of two further on.
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
def a_row_belongs_to_its_position(encoding: Encoding, problem: Problem) -> None:
    """Tokens that follow a cache get the rows that they have in the whole text.

        table(first, N)_n = table(0, first + N)_(first + n)

    Decoding adds one token at a time, at a position that its array does not tell.
    """
    t = problem.chance().randrange(1, problem.N)
    text = problem.but(first=0)
    later = text.tokens(slice(t, problem.N))

    whole, part = encoding.table(text), encoding.table(later)

    within = rounding.of_table(text)[t:] + rounding.of_table(later)
    equal(part, whole[t:], within=within)
