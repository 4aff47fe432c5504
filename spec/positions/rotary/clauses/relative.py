"""Section R, continued. Rotary attention depends only on relative positions.

A score is an inner product, and a rotation that is common to both sides cancels:

    <R(p) q, R(j) k> = <R(p - j) q, k>                                (R23)

So if all positions of a sequence are shifted, the scores, the output (R24) and the
gradients (R25) stay the same. Only queries and keys are rotated, not values (R29). The
other clauses say that the rotation of a token depends only on its own position. It does not
depend on the head (R26), on the index in a chunk (R27) or on earlier calls (R30).
"""

import numpy as np

from spec.attention import definition as attention
from spec.attention.notation import Problem as Attention
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.formats import rounded
from spec.notation import Array
from spec.positions import proofs
from spec.positions.record import Capability
from spec.positions.rotary import definition, rounding
from spec.positions.rotary.domain import Turns
from spec.positions.rotary.notation import Problem, Rotation

SHIFTS = (1, 5, 64, 200)
BASES = range(200, 1000)  # used by no model, so no cached table has one of them


def rotated(rotation: Rotation, problem: Problem) -> tuple[Array, Array, Array, Array]:
    """R(p) q and R(p) k as computed, and their error bounds."""
    keys = problem.but(q=problem.k)
    return (
        rotation.rotate(problem),
        rotation.rotate(keys),
        rounding.of_rotation(problem),
        rounding.of_rotation(keys),
    )


def elsewhere(problem: Problem) -> Problem:
    """The same sequence at later positions."""
    return problem.moved(SHIFTS[problem.seed % len(SHIFTS)])


@clause(
    "R23",
    over=Turns(where="near"),
    catches={"turns_the_other_way", "turns_nothing", "gives_every_column_a_frequency"},
    proof=proofs.scores_depend_on_the_difference,
)
def rotary_scores_depend_on_relative_position(rotation: Rotation, problem: Problem) -> None:
    """The score of a query and a key depends on their positions only through the difference.

        <R(p_i) q_i, R(p_j) k_j> = <R(p_i - p_j) q_i, k_j>

    Here R(p) is the rotation of position p. It is orthogonal, and R(p_j)^T R(p_i) = R(p_i - p_j).
    The score is compared with a sum over the cosines and sines of the differences.
    """
    q, k, off_q, off_k = rotated(rotation, problem)

    want = definition.scores(problem.in_reference())
    equal(q @ k.swapaxes(-1, -2), want, within=rounding.of_scores(q, k, off_q, off_k))


@clause(
    "R24",
    over=Turns(where="near", offset=True, least=2),
    catches={"gives_every_column_a_frequency", "counts_in_powers", "subtracts_twice"},
    proof=proofs.scores_depend_on_the_difference,
)
def shifting_all_positions_keeps_rotary_output(rotation: Rotation, problem: Problem) -> None:
    """Shifting all positions by the same amount does not change the output of attention.

        o(R(p + c) q, R(p + c) k, v) = o(R(p) q, R(p) k, v)

    Here R(p) is the rotation of position p, and c the shift. The scores stay the same (R23), and
    the values are not rotated.
    """
    outputs, budgets = [], []
    for place in (problem, elsewhere(problem)):
        q, k, off_q, off_k = rotated(rotation, place)
        posed = Attention(q, k, problem.v.astype(q.dtype), problem.dout.astype(q.dtype))
        moved = posed.sigma * rounding.of_scores(q, k, off_q, off_k)
        outputs.append(attention.attention(posed))
        budgets.append(rounding.of_output(attention.weights(posed), posed.v, moved))

    equal(outputs[1], outputs[0], within=budgets[0] + budgets[1])


@clause(
    "R25",
    over=Turns(where="near", offset=True, least=2),
    needs={Capability.GRADIENTS},
    catches={"turns_gradients_the_same_way", "leaves_gradients_unturned"},
    proof=proofs.scores_depend_on_the_difference,
)
def shifting_all_positions_keeps_rotary_gradients(rotation: Rotation, problem: Problem) -> None:
    """Shifting all positions by the same amount does not change the gradients of q and k.

        dq_i = R(-p_i) sum_j ds_ij R(p_j) k_j,    and ds does not change; dk_j likewise

    Here R(p) is the rotation of position p, and ds_ij the derivative with respect to the inner
    product of rotated query i and rotated key j. This holds for any loss, because every loss of
    attention depends on queries and keys only through these products. The check draws ds.
    """
    ds = problem.chance().integers(-16, 17, (problem.N, problem.N)) / 16
    found, budgets = [], []
    for place in (problem, elsewhere(problem)):
        _, k, _, off_k = rotated(rotation, place)
        cotangent = rounded((ds @ k).astype(float), problem.dtype)
        returning = place.but(dout=cotangent)
        found.append(rotation.backward(returning))
        arrived = np.abs(ds) @ off_k + rounding.of_storing(ds @ k, problem.dtype)
        carried = rounding.turned(arrived, problem.width)
        budgets.append(carried + rounding.of_backward(returning))

    equal(found[1], found[0], within=budgets[0] + budgets[1])


@clause(
    "R26",
    over=Turns(several=True),
    catches={
        "reads_positions_by_head",
        "takes_the_first_row_of_positions",
        "adds_the_batch_element",
    },
    effort=2,
)
def rotary_is_independent_across_heads_and_batch(rotation: Rotation, problem: Problem) -> None:
    """Each head of each batch element is rotated as if it were alone, by the positions of its
    batch element.

        R(p)(q)_bh = R(p_b)(q_bh)

    Positions belong to a batch element and are the same in all of its heads.
    """
    chance = problem.chance()
    b, h = chance.below(problem.B), chance.below(problem.H)
    alone = problem.one(b, h)

    whole, part = rotation.rotate(problem), rotation.rotate(alone)

    here = rounding.of_rotation(problem)[b : b + 1, h : h + 1]
    equal(part, whole[b : b + 1, h : h + 1], within=here + rounding.of_rotation(alone))


@clause(
    "R27",
    over=Turns(where="near", offset=True, least=2),
    catches={"starts_again_behind_a_cache", "is_a_row_late_behind_a_cache"},
)
def rotary_positions_continue_after_a_cache(rotation: Rotation, problem: Problem) -> None:
    """Tokens that follow a KV cache are rotated as they are in the whole sequence.

        R(p)(q)[t:] = R(p[t:])(q[t:]),    p = 0, 1, 2, ...

    Here R(p) is the rotation by positions p, and t the number of cached tokens. Their keys were
    rotated when they were added, and the rotation of a new query must be consistent with them.
    """
    t = problem.chance().randrange(1, problem.N)
    text = problem.but(positions=np.tile(np.arange(float(problem.N)), (problem.B, 1)))
    chunk = text.tokens(slice(t, problem.N))

    whole, part = rotation.rotate(text), rotation.rotate(chunk)

    within = rounding.of_rotation(text)[:, :, t:] + rounding.of_rotation(chunk)
    equal(part, whole[:, :, t:], within=within)


@clause(
    "R28",
    over=Turns(where="near", partial=True),
    catches={"negates_the_rest", "drops_the_rest", "divides_by_the_whole_width"},
)
def partial_rotary_keeps_the_other_columns(rotation: Rotation, problem: Problem) -> None:
    """A partial rotation leaves the columns that it does not rotate unchanged, bit for bit.

        y[r:] = x[r:],    and theta_i = base^(-2i / r) for the r columns before

    Here y is x, rotated. The frequencies depend on the rotated width r, not on the whole width D.
    """
    y = rotation.rotate(problem)

    r = problem.width
    equal(
        y[..., :r],
        definition.rotate(problem.in_reference())[..., :r],
        within=rounding.of_rotation(problem)[..., :r],
    )
    same_bits(y[..., r:], problem.q[..., r:])


@clause(
    "R29",
    over=Turns(where="near"),
    needs={Capability.PLACES},
    catches={"rotates_values_too", "rotates_queries_only", "turns_keys_the_other_way"},
)
def rotary_does_not_rotate_values(rotation: Rotation, problem: Problem) -> None:
    """Queries and keys are both rotated, and values stay unchanged, bit for bit.

        (q, k, v) becomes (R(p) q, R(p) k, v)

    Here R(p) is the rotation of position p. If values were rotated, the output would depend on the
    positions of the keys, through a rotation that nothing reverses.
    """
    q, k, v = rotation.place(problem)

    same_bits(v, problem.v)
    wanted = definition.place(problem.in_reference())
    equal(q, wanted[0], within=rounding.of_rotation(problem))
    equal(k, wanted[1], within=rounding.of_rotation(problem.but(q=problem.k)))


@clause(
    "R30",
    over=Turns(where="near", least=2),
    catches={"keeps_the_first_frequencies", "keeps_a_table_of_another_base"},
    effort=2,
)
def no_stale_rotary_angles_are_reused(rotation: Rotation, problem: Problem) -> None:
    """A call with another length, width or base returns the right result, and does not change the
    result of the next call.

        calls R(x), R(z), R(x):    the third result equals the first, to the bit

    Here R(x) is x, rotated; z is shorter, narrower if x has more than two columns, and of another
    base if the target takes one. Programs keep cosines and sines from call to call. They must look
    them up by everything on which they depend.
    """
    kept = max(2, (problem.D - 2) // 2 * 2)
    other = problem.tokens(slice(1, None)).of(lambda x: x[..., :kept]).but(turned=None)
    other = other.but(positions=problem.positions[:, :-1])
    if Capability.BASE in rotation.answers:
        other = other.but(base=float(BASES[problem.seed % len(BASES)]))

    first = rotation.rotate(problem)
    between = rotation.rotate(other)

    same_bits(rotation.rotate(problem), first)
    want = definition.rotate(other.in_reference())
    equal(between, want, within=rounding.of_rotation(other))
