"""Section R, continued. A rotary position rotates every pair of columns.

R(p) rotates pair i by p theta_i. So it preserves lengths (R16), position zero is the
identity (R15), rotations add up (R17), the gradient is the inverse rotation (R19), and the
backward pass inverts the forward pass (R20). A length does not depend on the angle. Its
error is therefore a few units of rounding even at positions where the angle itself is
inaccurate, and R16 and R20 have far smaller error bounds than R14 and R19.
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
def rotary_pairs_rotate_by_position_times_frequency(rotation: Rotation, problem: Problem) -> None:
    """Pair i of a token at position p is rotated by the angle p theta_i.

        y_2i = x_2i cos a - x_2i+1 sin a,   y_2i+1 = x_2i sin a + x_2i+1 cos a,   a = p theta_i

    Here x is a query or key, y the rotated one, theta_i = base^(-2i / r) the frequency of pair i,
    and r the number of rotated columns. The direction matters: in the opposite direction, relative
    positions change their sign. Angles must be computed in float32 or wider, even for 16 bits.
    """
    y = rotation.rotate(problem)

    want = definition.rotate(problem.in_reference())
    equal(y, want, within=rounding.of_rotation(problem))


@clause("R15", over=Turns(where="near"), catches={"counts_from_one", "swaps_sine_and_cosine"})
def rotary_position_zero_is_the_identity(rotation: Rotation, problem: Problem) -> None:
    """The rotation R(0) of position zero does not change a token, bit for bit.

        R(0) x = x

    Every format represents cos 0 = 1 and sin 0 = 0 exactly, and products with them are exact.
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
def rotary_rotation_preserves_lengths(rotation: Rotation, problem: Problem) -> None:
    """The rotation does not change the length of a pair.

        y_2i^2 + y_2i+1^2 = x_2i^2 + x_2i+1^2    where y is x, rotated

    This holds for any angle, as long as both columns are rotated by the same one. The error bound
    is therefore a few units of rounding at any position.
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
def rotary_rotations_add_up(rotation: Rotation, problem: Problem) -> None:
    """Rotating by one position and then by another equals rotating by their sum.

        R(b) R(a) x = R(a + b) x

    Here R(p) is the rotation of position p. So moving a token by b positions is one more rotation.
    The clause tests one token at a time, because each token has its own position.
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
def rotary_pairs_do_not_mix(rotation: Rotation, problem: Problem) -> None:
    """The rotation mixes no two pairs, and each pair rotates with its own frequency.

        x = 0 outside pair i:    R(p) x = 0 outside pair i, to the bit

    Here R(p) is the rotation of position p. Which columns form a pair is a convention, called
    pairing. The two pairings in use differ only by a permutation of the columns, but a model that
    is trained with one and run with the other is broken.
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
def rotary_gradient_is_the_inverse_rotation(rotation: Rotation, problem: Problem) -> None:
    """The gradient with respect to q is the cotangent, rotated by the opposite angle.

        dq = R(-p) dout

    Here R(-p) is the rotation by the angles of position -p, and dout is the cotangent. A rotation
    is orthogonal: its transpose is its inverse.
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
def rotary_backward_inverts_forward(rotation: Rotation, problem: Problem) -> None:
    """If the cotangent is the rotated query, the backward pass returns the original query.

        dout = R(p) q:    dq = q

    Here R(p) is the rotation of position p. Both passes rotate by the same angle, so its rounding
    error cancels. A backward pass that computes its angles again must meet the same error bound.
    """
    there = rotation.rotate(problem)
    returning = problem.but(dout=there.astype(problem.dout.dtype))

    back = rotation.backward(returning)

    off = rounding.lengths(back - problem.in_reference().q, problem.width)
    within = rounding.of_length(problem, problem.q) + rounding.of_length(problem, there)
    equal(off, 0, within=within)


@clause("R21", over=Turns(odd=True, where="near"), catches={"drops_the_odd_column"}, force="should")
def rotary_rejects_odd_widths(rotation: Rotation, problem: Problem) -> None:
    """Rotating all columns of an odd width raises an error; none is silently dropped or left
    unrotated.

        D odd:    an error

    The last column has no partner and cannot be rotated. A caller who wants it unchanged can
    request a partial rotation.
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
def rotary_angles_stay_accurate_at_far_positions(rotation: Rotation, problem: Problem) -> None:
    """At position 100,000, angles are still as accurate as float32 allows.

        |fl(p theta_i) - p theta_i| <= u |p theta_i| (12 + 10 |ln theta_i|)

    Here fl is the computed angle, and u the unit roundoff of float32, or of float64 in that format.
    The bound allows 12 roundings of the angle, and 10 for each unit of |ln theta_i|
    (`spec.positions.angles`). Frequencies, positions or angles in 16 bits are wrong by whole turns
    at such positions. In sequences of a few hundred tokens, the error is far smaller.
    """
    y = rotation.rotate(problem)

    want = definition.rotate(problem.in_reference())
    equal(y, want, within=rounding.of_rotation(problem))
