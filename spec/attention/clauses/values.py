"""Section V. The output is a weighted mean of the values, and the weights do not depend on them.

The output is therefore linear in v, stays in the convex hull of the values that are
visible to the query, and treats every column of v alike. The value gradient

    dv_j = sum_i a_ij dout_i

is the transpose of the same map: <v, dv> = <o, dout> for every loss. The weights of a query
sum to one. So the gradients of all values sum to the cotangents dout of all queries that are
not fully masked.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import any_number_of_keys, at_sizes, exactly
from spec.attention.record import Implementation
from spec.attention.rounding.linear import through
from spec.clause import clause
from spec.comparison import at_least, at_most, equal
from spec.entries import EXACT
from spec.formats import FORMATS


def _full_precision(dtype: str) -> float:
    """The size above which the end of the format's range does not affect a result.

    If a result is 40 binary digits above the accumulator's smallest normal number, no term that
    is large enough to count is subnormal. The result must also be normal in `dtype`.
    """
    accumulator = "float64" if dtype == "float64" else "float32"
    return max(FORMATS[dtype].tiny, FORMATS[accumulator].tiny * 2.0**40)


@clause(
    "V1",
    over=Problems(sinks=False, modest=True),
    catches={"forgets_the_denominator", "returns_zero", "ignores_the_mask"},
    effort=2,
    proof=exactly.outputs_lie_among_the_allowed_values,
)
def output_stays_in_range_of_visible_values(attention: Implementation, problem: Problem) -> None:
    """In each column, an output lies in the range of the values that are visible to the query.

        min_j v_jc <= o_ic <= max_j v_jc    over the keys j that query i may attend to

    The weights are not negative (S2) and sum to one (S1), so the output is a convex combination.
    A fully masked query returns zero.
    """
    v = definition.shared(problem.v, problem.H)[:, :, None]
    seen = problem.allowed[..., None]
    low, high = np.where(seen, v, np.inf).min(axis=3), np.where(seen, v, -np.inf).max(axis=3)
    idle = problem.idle[..., None]

    o = attention.forward(problem)

    at_least(o, np.where(idle, 0, low), within=rounding.of_output(problem))
    at_most(o, np.where(idle, 0, high), within=rounding.of_output(problem))


@clause(
    "V2",
    over=Problems(sinks=False),
    catches={"adds_one_to_the_denominator", "forgets_the_denominator", "returns_zero"},
)
def constant_values_give_that_constant(attention: Implementation, problem: Problem) -> None:
    """If all values are equal, every query that may attend to a key returns that value.

        v_j = c  implies  o_i = c

    The weights of a query sum to one (S1), whatever the scores are, so the output is c times one. A
    failure points to the denominator.
    """
    constant = problem.but(v=problem.v[:, :, :1] + np.zeros_like(problem.v))
    c = definition.shared(constant.v, problem.H)[:, :, :1]

    o = attention.forward(constant)

    want = np.where(problem.idle[..., None], 0, c)
    equal(o, want, within=rounding.of_output(constant))


@clause(
    "V3",
    over=Problems(families=EXACT, least=(1, 1, 1, 2), equal_widths=True),
    catches={"reads_keys_as_values"},
    proof=at_sizes.outputs_add_as_values_do,
)
def output_is_linear_in_the_values(attention: Implementation, problem: Problem) -> None:
    """The output is linear in the values: the output for a sum is the sum of the outputs.

        o(v + w) = o(v) + o(w)

    The weights do not depend on the values. If an implementation reads another array instead of
    the values, that array counts once on the left and twice on the right. The keys can be read by
    mistake where D = E.
    """
    other = problem.but(v=np.roll(problem.v, 1, axis=2) / 2)
    both = problem.but(v=problem.v + other.v)

    o = [attention.forward(x) for x in (problem, other, both)]

    within = sum(rounding.of_output(x) for x in (problem, other, both))
    equal(o[2], o[0] + o[1], within=within)


@clause("V4", over=Problems(), catches={"takes_the_width_of_values_from_keys"})
def columns_of_values_do_not_mix(attention: Implementation, problem: Problem) -> None:
    """Each column of the output comes from the same column of the values.

        o(v P) = o(v) P    for a permutation P of the columns

    A weight is one number, which multiplies a value vector as a whole. If values are wider than
    keys (E > D), a kernel that uses the width of the keys for both loses the last columns of the
    values. After the permutation it loses others.
    """
    order = moves.permutation(problem, problem.E)
    moved = problem.but(v=problem.v[..., order])

    before, after = attention.forward(problem), attention.forward(moved)

    within = rounding.of_output(problem)[..., order] + rounding.of_output(moved)
    equal(after, before[..., order], within=within)


@clause(
    "V5",
    over=Problems(families=("lattice", "ties", "normal")),
    catches={"remembers_answers_by_shape"},
    promise="run",
)
def doubled_values_double_the_output(attention: Implementation, problem: Problem) -> None:
    """Doubling the values doubles the output, to the bit.

        o(2 v) = 2 o(v)

    Multiplying by a power of two commutes with every rounding, unless a result is too small for
    the full precision of the format. There the error bound applies.
    """
    doubled = problem.but(v=2 * problem.v)

    before, after = attention.forward(problem), attention.forward(doubled)

    small = np.abs(before) <= _full_precision(problem.dtype)  # <= as a smaller one may round up
    within = 2 * rounding.of_output(problem) + rounding.of_output(doubled)
    equal(after, 2 * before, within=np.where(small, within, 0))


@clause(
    "V6",
    over=Problems(families=("lattice", "normal", "ties")),
    catches={"scales_by_value_width", "takes_the_width_of_values_from_keys"},
    needs={Capability.WIDTHS},
)
def extra_value_columns_leave_others_unchanged(attention: Implementation, problem: Problem) -> None:
    """The width of the values is free: additional columns do not change the output in the others.

        o([v, w]) = [o(v), o(w)]

    The scale depends on the width of queries and keys. A scale that is taken from the width of
    the values changes as columns are added.
    """
    wider = moves.with_values(problem, np.concatenate([problem.v, -problem.v, problem.v], axis=-1))

    o, more = attention.forward(problem), attention.forward(wider)

    within = np.tile(rounding.of_output(problem), 3) + rounding.of_output(wider)
    equal(more, np.concatenate([o, -o, o], axis=-1), within=within)


@clause(
    "V7",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={
        "forgets_the_denominator_of_value_gradients",
        "differentiates_the_sum_of_the_output",
        "differentiates_with_unmerged_sums",
    },
    proof=at_sizes.value_gradients_mirror_the_output,
)
def value_gradient_is_the_forward_transpose(attention: Implementation, problem: Problem) -> None:
    """The gradient of the values is the transpose of the forward pass.

        v^T dv = o^T dout,    so  <v, dv> = <o, dout>

    Both sides are v^T a^T dout: one (E, E) matrix for each key head, summed over the query
    heads that read it.
    """
    o, dv = attention.forward(problem), attention.backward(problem).v
    of_o, of_dv = rounding.of_output(problem), rounding.of_gradients(problem).v

    left = problem.v.swapaxes(-1, -2) @ dv
    right = definition.gathered(o.swapaxes(-1, -2) @ problem.dout, problem.G)

    of_left = through(problem.v.swapaxes(-1, -2), of_dv)
    of_right = through(problem.dout.swapaxes(-1, -2), of_o).swapaxes(-1, -2)
    equal(left, right, within=of_left + definition.gathered(of_right, problem.G))


@clause(
    "V8",
    over=Problems(sinks=False),
    needs={Capability.GRADIENTS},
    catches={"averages_over_each_group", "takes_one_head_of_each_group"},
    proof=any_number_of_keys.value_gradients_sum_to_the_cotangents,
)
def value_gradients_sum_to_the_cotangents(attention: Implementation, problem: Problem) -> None:
    """The value gradients sum to the cotangents dout of all queries that are not fully masked.

        sum_j dv_j = sum_i dout_i    over the queries of a key head that are not fully masked

    The weights of such a query sum to one (S1), and those of a fully masked query to zero. Unlike
    the sum of dk (K2), this sum is not zero, so an implementation that returns zeros fails.
    """
    live = np.where(problem.idle[..., None], 0, problem.dout)

    dv = attention.backward(problem).v

    want = definition.gathered(live.sum(axis=-2), problem.G)
    equal(dv.sum(axis=-2), want, within=rounding.of_gradients(problem).v.sum(axis=-2))


@clause(
    "V9",
    over=Problems(families=("lattice", "ties"), masks=PLAIN),
    catches={"flushes_subnormal_results"},
    force="should",
)
def subnormal_values_are_not_flushed_to_zero(attention: Implementation, problem: Problem) -> None:
    """Values too small for full precision are averaged like all others, and not flushed to zero.

        o(t v) = t o(v)    for t the smallest normal number

    Each product and each addition may round on the coarse grid of the subnormal numbers.
    Arithmetic that flushes them to zero is faster, and common. No other clause rejects it.
    """
    last = FORMATS[problem.dtype]
    small = problem.but(v=problem.v * last.tiny)

    o = attention.forward(small)

    steps = (2 * problem.M + 4) * last.sub
    within = rounding.of_output(problem) * last.tiny + steps
    equal(o, rounding.reference(problem).o * last.tiny, within=within)
