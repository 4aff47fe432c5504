"""Section R, continued. A rotary position turns every pair of columns, and only turns it.

R(p) is a rotation for every pair, by p theta_i. So it keeps lengths (R16), the rotation by
zero is none at all (R15), rotations add up (R17), the derivative is the rotation back
(R19), and back undoes forth (R20). Lengths do not depend on the angle, and so are known
to a few units at positions where the angle itself is not: R16 and R20 have far smaller
budgets than R14 and R19.
"""

import numpy as np

from spec.clause import clause
from spec.comparison import equal, holds, same_bits
from spec.positions import proofs
from spec.positions.record import Capability
from spec.positions.rotary import definition, rounding
from spec.positions.rotary.domain import Turns
from spec.positions.rotary.notation import Problem, Rotation
from spec.subject import Refused


@clause(
    "R14",
    over=Turns(),
    catches={
        "pairs_halves",
        "turns_the_other_way",
        "swaps_sine_and_cosine",
        "halves_the_exponent",
        "counts_from_one",
        "starts_again_behind_a_cache",
        "takes_angles_in_bfloat16",
        "rounds_frequencies_to_bfloat16",
        "takes_a_base_of_a_thousand",
        "divides_by_the_whole_width",
        "turns_nothing",
        "reads_what_it_has_overwritten",
    },
)
def every_pair_is_turned_by_its_angle(rotation: Rotation, problem: Problem) -> None:
    """Pair i of a token at position p is turned by p theta_i.

        y_2i = x_2i cos a - x_2i+1 sin a,   y_2i+1 = x_2i sin a + x_2i+1 cos a,   a = p theta_i

    The direction counts: with the opposite one, relative positions change their sign. Angles
    are taken in float32 at least.
    """
    y = rotation.rotate(problem)

    want = definition.rotate(problem.in_reference())
    equal(y, want, within=rounding.of_rotation(problem))


@clause("R15", over=Turns(where="near"), catches={"counts_from_one", "swaps_sine_and_cosine"})
def position_zero_turns_nothing(rotation: Rotation, problem: Problem) -> None:
    """A token at position zero stays as it is, to the bit.

        R(0) x = x

    cos 0 = 1 and sin 0 = 0 are numbers of every format, and so are products with them.
    """
    first = problem.tokens(slice(0, 1))
    first = first.but(positions=np.zeros(first.positions.shape))

    same_bits(rotation.rotate(first), first.q)


@clause(
    "R16",
    over=Turns(),
    catches={
        "gives_every_column_a_frequency",
        "subtracts_twice",
        "reads_what_it_has_overwritten",
        "pairs_halves",
        "shifts_a_sine_for_the_cosine",
    },
    proof=proofs.turning_keeps_lengths,
)
def turning_keeps_lengths(rotation: Rotation, problem: Problem) -> None:
    """The length of a pair is the same before and after.

        y_2i^2 + y_2i+1^2 = x_2i^2 + x_2i+1^2

    Whatever the angle is, if both columns turn by the same one; so the budget is a few units
    at any position.
    """
    y = rotation.rotate(problem)

    after = rounding.lengths(y, problem.width)
    before = rounding.lengths(problem.in_reference().q, problem.width)
    equal(after, before, within=rounding.of_length(problem, problem.q))


@clause(
    "R17",
    over=Turns(where="near", offset=True),
    catches={"counts_from_one", "swaps_sine_and_cosine", "gives_every_column_a_frequency"},
    proof=proofs.turns_add_up,
)
def turns_add_up(rotation: Rotation, problem: Problem) -> None:
    """Turning by one position and then by another is turning by their sum.

        R(b) R(a) x = R(a + b) x

    So positions can be counted from anywhere. One token at a time, as its position is all that
    tells it from the next.
    """
    token = problem.tokens(slice(0, 1))
    b = problem.chance().randrange(1, 30)
    halfway = rotation.rotate(token)
    then = token.but(
        q=halfway.astype(token.q.dtype), positions=np.full(token.positions.shape, float(b))
    )

    twice, once = rotation.rotate(then), rotation.rotate(token.moved(b))

    carried = rounding.turned(rounding.of_rotation(token), problem.width)
    within = carried + rounding.of_rotation(then) + rounding.of_rotation(token.moved(b))
    equal(twice, once, within=within)


@clause(
    "R18",
    over=Turns(where="near"),
    catches={"pairs_halves", "gives_pairs_the_next_angle"},
    effort=2,
)
def pairs_do_not_meet(rotation: Rotation, problem: Problem) -> None:
    """What is in one pair stays in it, and pair i turns by frequency i.

        x = 0 outside pair i:    R(p) x = 0 outside pair i, to the bit

    This is the convention called pairing. The two in use are the same up to a permutation of
    the columns; a model that was trained with one of them and runs with the other is broken.
    """
    i = problem.chance().below(max(1, problem.width // 2))
    inside = np.arange(problem.D) // 2 == i
    alone = problem.but(q=np.where(inside, problem.q, 0.0))

    y = rotation.rotate(alone)

    same_bits(np.where(inside, 0, y), np.zeros(y.shape))
    want = definition.rotate(alone.in_reference())
    equal(y, want, within=rounding.of_rotation(alone))


@clause(
    "R19",
    over=Turns(),
    needs={Capability.GRADIENTS},
    catches={"turns_gradients_the_same_way", "leaves_gradients_unturned"},
    proof=proofs.the_gradient_is_the_turn_back,
)
def the_gradient_is_the_turn_back(rotation: Rotation, problem: Problem) -> None:
    """The derivative by q is the cotangent, turned back.

        dq = R(-p) dout

    A rotation is orthogonal: its transpose is its inverse.
    """
    dq = rotation.backward(problem)

    want = definition.backward(problem.in_reference())
    equal(dq, want, within=rounding.of_backward(problem))


@clause(
    "R20",
    over=Turns(whole=True),
    needs={Capability.GRADIENTS},
    catches={"turns_gradients_the_same_way", "counts_gradients_from_one"},
    proof=proofs.turning_keeps_lengths,
)
def back_undoes_forth(rotation: Rotation, problem: Problem) -> None:
    """The backward pass takes a rotated query back to where it was.

        dout = R(p) q:    dq = q

    Both passes have turned by one angle, and none of its rounding is left. A backward pass
    that computes its angles anew is held to the same.
    """
    there = rotation.rotate(problem)
    returning = problem.but(dout=there.astype(problem.dout.dtype))

    back = rotation.backward(returning)

    off = rounding.lengths(back - problem.in_reference().q, problem.width)
    within = rounding.of_length(problem, problem.q) + rounding.of_length(problem, there)
    equal(off, 0, within=within)


@clause("R21", over=Turns(odd=True, where="near"), catches={"drops_the_odd_column"}, force="should")
def an_odd_width_is_refused(rotation: Rotation, problem: Problem) -> None:
    """A width without pairs is refused, and not answered with a column fewer or unturned.

        D odd:    an error

    A column that has no partner cannot be turned. Who wants it left alone asks for a partial
    rotation.
    """
    try:
        y = rotation.rotate(problem)
    except Refused:
        return
    holds(False, f"a width of {problem.D} was answered, with an array {y.shape}")


@clause(
    "R22",
    over=Turns(where="far"),
    catches={
        "takes_angles_in_float16",
        "takes_angles_in_bfloat16",
        "rounds_frequencies_to_bfloat16",
        "rounds_positions_to_float16",
    },
)
def far_positions_keep_their_angles(rotation: Rotation, problem: Problem) -> None:
    """At position 100,000 angles are still those of float32.

        |fl(p theta_i) - p theta_i| <= u |p theta_i| (a dozen, and a dozen |ln theta_i|)

    Frequencies, positions or angles of 16 bits are wrong by whole turns there, and a model
    whose text fits in a few hundred tokens never shows it.
    """
    y = rotation.rotate(problem)

    want = definition.rotate(problem.in_reference())
    equal(y, want, within=rounding.of_rotation(problem))
