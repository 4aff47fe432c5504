"""Section X. Attention over parts merges into attention over the whole.

Cut the keys into two parts and attend to each. The outputs merge by weights
that only the two log-sum-exps decide:

    o = w o' + (1 - w) o'',    w = exp(lse' - lse),    lse = log(e^lse' + e^lse'')

(Milakov & Gimelshein 2018, section 3; Dao et al. 2022, section 3.1). The merge
is commutative and associative, and attention to no keys, with output 0 and
log-sum-exp -inf, is its identity. Every blockwise, online, split or cached
implementation rests on it; so no tile size, no order of tiles and no empty tile
may be seen from outside.
"""

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import at_sizes, blocks
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import at_least, equal
from spec.notation import Array

CUT = Problems(causal=False, sinks=False, slopes=False, least=(1, 1, 1, 2))
FINITE = 700  # e^709 is the last finite power: a log-sum-exp that is that far off claims nothing


def parts(problem: Problem) -> tuple[Problem, Problem]:
    """The problem over the first keys, and over the others; the seed settles where it is cut."""
    m = problem.chance().randrange(1, problem.M)
    return moves.of_keys(problem, slice(0, m)), moves.of_keys(problem, slice(m, None))


def shares(left: Array, right: Array) -> tuple[Array, Array]:
    """What two log-sum-exps weigh, exp(x) / (exp(left) + exp(right)) for each; 0 if both are empty.

    Each by its own exponential: 1 - w would lose the digits of a small share.
    """
    top = np.maximum(left, right)
    top = np.where(np.isneginf(top), 0, top)
    a, b = np.exp(left - top), np.exp(right - top)
    total = np.where(a + b == 0, 1, a + b)
    return (a / total)[..., None], (b / total)[..., None]


@clause(
    "X1",
    over=CUT,
    catches={"attends_to_the_best_key_only", "averages_the_values", "rounds_inputs_to_tf32"},
    effort=2,
    proof=blocks.merging_blocks_gives_the_whole,
)
def parts_merge_into_the_whole(attention: Implementation, problem: Problem) -> None:
    """The output over all keys is the merge of the outputs over two parts of them.

        o = w o' + (1 - w) o'',    w = exp(lse') / (exp(lse') + exp(lse''))

    Both sums over j may be cut anywhere. The shares are the definition's, so that any attention
    function can be asked.
    """
    left, right = parts(problem)
    w, rest = shares(*(definition.lse(x.wide()) for x in (left, right)))

    whole, o, p = (attention.forward(x) for x in (problem, left, right))

    within = rounding.of_output(problem)
    within = within + w * rounding.of_output(left) + rest * rounding.of_output(right)
    equal(whole, w * o + rest * p, within=within)


@clause(
    "X2",
    over=CUT,
    needs={Capability.LSE},
    catches={
        "measures_lse_in_base_two",
        "measures_the_log_of_the_mean",
        "forgets_the_maximum_in_lse",
    },
    proof=blocks.merging_blocks_gives_the_whole,
)
def log_sum_exps_merge_too(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp over all keys is that of the log-sum-exps over two parts of them.

        lse = log(exp(lse') + exp(lse''))

    The sum of the exponentials is the sum over both parts. Only its natural logarithm, with the
    maximum in it, merges so.
    """
    left, right = parts(problem)

    whole, one, two = (attention.lse(x) for x in (problem, left, right))

    within = sum(rounding.of_lse(x) for x in (problem, left, right))
    equal(whole, np.logaddexp(one, two), within=within)


@clause(
    "X3",
    over=CUT,
    needs={Capability.LSE},
    catches={
        "measures_lse_of_unscaled_scores",
        "forgets_the_maximum_in_lse",
        "measures_the_log_of_the_mean",
    },
)
def the_log_sum_exp_decides_the_shares(attention: Implementation, problem: Problem) -> None:
    """Two parts merge by the log-sum-exps that the implementation itself returns.

        o = w o' + (1 - w) o'',    w = exp(lse') / (exp(lse') + exp(lse''))

    This is X1 with the shares that a caller has. A log-sum-exp in another base or without the
    scale leaves every output right and the merge wrong.
    """
    left, right = parts(problem)
    w, rest = shares(attention.lse(left), attention.lse(right))

    whole, o, p = (attention.forward(x) for x in (problem, left, right))

    slip = sum(rounding.of_lse(x) for x in (left, right))
    slip = np.expm1(np.minimum(slip, FINITE))[..., None] * w * rest * np.abs(o - p)
    within = w * rounding.of_output(left) + rest * rounding.of_output(right)
    equal(whole, w * o + rest * p, within=rounding.of_output(problem) + within + slip)


@clause(
    "X4",
    over=Problems(slopes=False, masks=PLAIN, causal=False),
    needs={Capability.MASK},
    catches={"forbids_after_normalising", "drops_the_last_key", "favours_the_diagonal"},
    proof=blocks.merging_with_the_empty_block_changes_nothing,
)
def a_hidden_part_is_the_identity(attention: Implementation, problem: Problem) -> None:
    """A part of which no key is allowed adds nothing, wherever it stands.

        o([k', k, k''], mask = [False, True, False]) = o(k)

    Its log-sum-exp is -inf, so by X3 it has no share. An implementation by tiles meets it as a
    tile that is forbidden from end to end.
    """
    more = moves.of_keys(problem, np.tile(np.arange(problem.M), 3))
    middle = np.repeat([False, True, False], problem.M)[None, :]
    surrounded = more.but(mask=np.broadcast_to(middle, (problem.N, 3 * problem.M)).copy())

    o, p = attention.forward(problem), attention.forward(surrounded)

    equal(p, o, within=rounding.of_output(problem) + rounding.of_output(surrounded))


@clause(
    "X5",
    over=Problems(
        slopes=False, families=("ascending", "ahead", "sharp"), causal=False, tiled="keys"
    ),
    catches={
        "forgets_to_rescale",
        "takes_the_maximum_of_the_first_tile",
        "merges_halves_in_base_two",
    },
    effort=2,
)
def a_late_maximum_rescales_what_came_before(attention: Implementation, problem: Problem) -> None:
    """The largest score may come last, first or anywhere: keys in reverse give the same output.

        o(k backwards, v backwards) = o(k, v) = sum_j a_ij v_j

    A running sum has to be rescaled whenever the maximum rises. One that is not is right as
    long as the first tile holds the maximum.
    """
    backwards = moves.of_keys(problem, slice(None, None, -1))

    o, p = attention.forward(problem), attention.forward(backwards)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
    equal(p, o, within=rounding.of_output(problem) + rounding.of_output(backwards))


@clause(
    "X6",
    over=Problems(masks=PLAIN, causal=False, caps=False, families=("lattice", "ties")),
    needs={Capability.LSE, Capability.WIDTHS},
    catches={"measures_lse_in_base_two", "measures_lse_of_unscaled_scores"},
    proof=at_sizes.the_gradient_of_log_sum_exp_is_a_mean_of_keys,
)
def the_log_sum_exp_is_convex(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp lies above its tangents, whose slope is attention with the keys for values.

        lse(q') >= lse(q) + scale <q' - q, attention(q, k, k)>

    It is convex in the scores (S14), which are linear in q. So the log-sum-exp, the scale and
    the output are tied together without a derivative.
    """
    step = np.resize([1.0, -1.0, 2.0], problem.D)
    moved = problem.but(q=problem.q + step)
    mirror = moves.with_values(problem, problem.k)

    here, there = attention.lse(problem), attention.lse(moved)
    slope = attention.forward(mirror)

    tangent = problem.sigma * (slope @ step)
    within = rounding.of_lse(problem) + rounding.of_lse(moved)
    within = within + abs(problem.sigma) * (rounding.of_output(mirror) @ np.abs(step))
    at_least(there, here + tangent, within=within)


@clause(
    "X7",
    over=Problems(tiled="keys", windows=False),
    catches={
        "drops_the_tail",
        "drops_the_last_tile_of_whole_ones",
        "reads_only_128_keys",
        "scores_padding_zero",
        "forgets_to_rescale_the_sum",
        "keeps_the_eight_largest",
    },
    effort=3,
)
def every_key_is_read(attention: Implementation, problem: Problem) -> None:
    """However many keys there are, none is left out and none is made up.

        o_i = sum_(j < M) a_ij v_j    for any M, a multiple of a tile or not

    A tile that is not full is filled with nothing: no score of zero, no key of the next head.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
