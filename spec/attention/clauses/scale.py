"""Section B, continued. The scale multiplies the scores, and a scale of zero is respected.

The default scale is 1 / sqrt(D). The product of two independent vectors of unit
variance has variance D. A softmax of scores of that size is nearly one-hot and
has very small gradients (Vaswani et al. 2017, section 3.2.1). A scale that the
caller passes is used unchanged, even if it is zero or negative.
"""

import numpy as np

from spec.attention import rounding
from spec.attention.clauses.bases import EXACT, UNBIASED, mean_of_the_visible
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "B6",
    over=Problems(),
    needs={Capability.SCALE},
    catches={"centres_each_key_on_its_own_mean", "ignores_the_scale"},
)
def zero_padded_head_size_changes_nothing(attention: Implementation, problem: Problem) -> None:
    """At a fixed scale, padding q, k and v with zero columns only pads the output with zeros.

        o([q, 0], [k, 0], [v, 0]; scale) = [o(q, k, v; scale), 0]

    Kernels rely on this when they pad head sizes to sizes that suit the hardware. The scale is
    passed explicitly, since the default would change with the padded head size.
    """
    here = problem.but(scale=problem.sigma)
    room = [(0, 0)] * 3 + [(0, 3)]
    wider = here.but(
        **{name: np.pad(getattr(here, name), room) for name in ("q", "k", "v", "dout")}
    )

    before, after = attention.forward(here), attention.forward(wider)

    within = np.pad(rounding.of_output(here), room) + rounding.of_output(wider)
    equal(after, np.pad(before, room), within=within)


@clause(
    "B7",
    over=EXACT,
    needs={Capability.SCALE},
    catches={"ignores_the_scale", "divides_by_the_scale", "scales_twice"},
)
def scale_multiplies_the_scores(attention: Implementation, problem: Problem) -> None:
    """A scale has the same effect as a factor that multiplies the queries.

        o(q; scale 1/2) = o(q / 2; scale 1)

    Halving is exact, so both calls compute the same scores. An implementation that ignores the
    scale, divides by it, or applies it twice returns different outputs.
    """
    left, right = problem.but(scale=0.5), problem.but(q=problem.q / 2, scale=1.0)

    o, p = attention.forward(left), attention.forward(right)

    equal(o, p, within=rounding.of_output(left) + rounding.of_output(right))


@clause(
    "B8",
    over=Problems(scales=("default",)),
    needs={Capability.SCALE},
    catches={
        "divides_by_width",
        "scales_by_heads",
        "scales_by_key_count",
        "scales_by_width_plus_one",
        "scales_by_padded_width",
        "scales_by_value_width",
        "scales_by_model_width",
        "leaves_scores_unscaled",
    },
    effort=2,
)
def default_scale_is_one_over_sqrt_head_size(attention: Implementation, problem: Problem) -> None:
    """The default scale is one over the square root of the head size D of queries and keys.

        o(no scale passed) = o(scale = 1 / sqrt(D))

    A divisor taken from another size (number of heads or keys, head size of the values) is right
    wherever the two sizes agree. An implementation that never reads the scale passes here; B7
    rejects it.
    """
    problem = problem.but(scale=None)
    asked = problem.but(scale=problem.sigma)

    o, p = attention.forward(problem), attention.forward(asked)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(asked))


@clause(
    "B9",
    over=Problems(slopes=False, sinks=False, masks=UNBIASED, causal=False),
    needs={Capability.SCALE},
    catches={"takes_zero_scale_for_none", "ignores_the_scale"},
)
def scale_of_zero_gives_the_mean_of_values(attention: Implementation, problem: Problem) -> None:
    """A scale of zero is not replaced by the default: all visible keys get equal weight.

        scale = 0  implies  o_i = mean of v_j over the keys visible to i, zero if none is

    The Python expression `scale or default` replaces zero by the default. Here the problems have no
    biases. With a scale of zero, all scores are then equal, as in B10.
    """
    flat = problem.but(scale=0.0)

    o = attention.forward(flat)

    equal(o, mean_of_the_visible(flat), within=rounding.of_output(flat))


@clause("B12", over=Problems(), catches={"rounds_keys_down"})
def negating_queries_and_keys_leaves_output_unchanged(
    attention: Implementation, problem: Problem
) -> None:
    """Negating both queries and keys leaves the output unchanged, up to rounding.

        o(-q, -k) = o(q, k)

    Every product stays the same. B4 requires equal bits, which need the same order of summation.
    """
    moved = problem.but(q=-problem.q, k=-problem.k)

    before, after = attention.forward(problem), attention.forward(moved)

    equal(after, before, within=rounding.of_output(problem) + rounding.of_output(moved))
