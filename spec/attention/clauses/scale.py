"""Section B, continued. The scale multiplies scores, and zero is one.

It is 1 / sqrt(D) unless another one is asked for, because the product of two
independent vectors of unit variance has variance D, and a softmax of scores of
that size is nearly one-hot and hardly learns (Vaswani et al. 2017, section
3.2.1). What is asked for counts as it is, zero and negative numbers too.
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
def empty_columns_change_nothing(attention: Implementation, problem: Problem) -> None:
    """Columns of zeros may be added to queries, keys and values when the scale stays.

        o([q, 0], [k, 0], [v, 0]; scale) = [o(q, k, v; scale), 0]

    Kernels pad widths to what the hardware likes, and rest on this. The scale is asked for,
    since the default would follow the padding.
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
def the_scale_multiplies_the_scores(attention: Implementation, problem: Problem) -> None:
    """A scale is a factor of the queries.

        o(q; scale 1/2) = o(q / 2; scale 1)

    Halving is exact, so the scores are the same numbers. A scale that is ignored, inverted or
    applied twice makes them differ.
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
def the_scale_is_one_over_the_root_of_the_width(
    attention: Implementation, problem: Problem
) -> None:
    """Not asking for a scale is asking for one over the square root of the width.

        o(scale not asked for) = o(scale = 1 / sqrt(D))

    Divisors taken from another size (heads, keys, the width of values) are right wherever the
    sizes agree. An implementation that never reads the scale passes; B7 rejects it.
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
def a_scale_of_zero_gives_the_mean(attention: Implementation, problem: Problem) -> None:
    """A scale of zero is a scale, and not the absence of one: all weights are equal.

        o_i = mean of v_j over the keys allowed to i

    `scale or default` cannot be asked for zero. With it all scores are equal, as in B10.
    """
    flat = problem.but(scale=0.0)

    o = attention.forward(flat)

    equal(o, mean_of_the_visible(flat), within=rounding.of_output(flat))
