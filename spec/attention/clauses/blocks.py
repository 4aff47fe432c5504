"""Section X. Attention over parts merges into attention over the whole.

Cut the keys into two parts and attend to each. The outputs merge with weights that
depend only on the two log-sum-exps:

    o = w o' + (1 - w) o'',    w = exp(lse' - lse),    lse = log(e^lse' + e^lse'')

(Milakov & Gimelshein 2018, section 3; Dao et al. 2022, section 3.1). The merge
is commutative and associative. Its identity is attention to no keys, with output 0
and log-sum-exp -inf. Every blockwise, online, split or cached implementation
depends on this merge. So the result must not depend on the size of tiles, on their
order, or on empty tiles.
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
FINITE = 700  # e^709 is the last finite power of e; so large an error bound claims nothing


def parts(problem: Problem) -> tuple[Problem, Problem]:
    """The problem over the keys before a cut, and over those after it; the seed decides the cut."""
    m = problem.chance().randrange(1, problem.M)
    return moves.of_keys(problem, slice(0, m)), moves.of_keys(problem, slice(m, None))


def shares(left: Array, right: Array) -> tuple[Array, Array]:
    """The merge weights of two log-sum-exps, exp(x) / (exp(left) + exp(right)); 0 if both are -inf.

    Each weight has its own exponential, because 1 - w would lose the digits of a small weight.
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
def outputs_of_two_parts_merge_into_the_whole(attention: Implementation, problem: Problem) -> None:
    """The output over all keys is the merge of the outputs over two parts of the keys.

        o = w o' + (1 - w) o'',    w = exp(lse') / (exp(lse') + exp(lse''))

    Here o' and lse' belong to the first part of the keys, o'' and lse'' to the second. The keys may
    be cut anywhere. If both lse are -inf, the query is fully masked and all three outputs are zero.
    The check takes w from the definition, so it also tests functions that return no log-sum-exp.
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
def log_sum_exps_of_two_parts_merge(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp over all keys is the log-sum-exp of those over two parts of the keys.

        lse = log(exp(lse') + exp(lse''))

    Here lse' and lse'' belong to the two parts. The sum of all exponentials is the sum over both
    parts. A logarithm in another base, or without the maximum, does not merge like this.
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
def returned_log_sum_exps_give_merge_weights(attention: Implementation, problem: Problem) -> None:
    """Two parts merge correctly with the log-sum-exps that the implementation itself returns.

        o = w o' + (1 - w) o'',    w = exp(lse') / (exp(lse') + exp(lse''))

    This is X1 with the merge weights that a caller can compute: o', lse' belong to the first part
    of the keys, o'', lse'' to the second. If both lse are -inf, all three outputs are zero. A
    log-sum-exp in another base or without the scale makes the merge wrong, but no single output.
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
def fully_masked_block_of_keys_changes_nothing(attention: Implementation, problem: Problem) -> None:
    """A block of keys that are all masked does not change the output, wherever it stands.

        o([k', k, k''], mask = [False, True, False]) = o(k)

    Here k' and k'' are blocks of masked keys, before and after the visible keys k; True means
    visible. The log-sum-exp of a masked block is -inf, so its merge weight is zero (X3). A tiled
    implementation may read such a block as a tile in which every key is masked.
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
def position_of_largest_score_does_not_matter(attention: Implementation, problem: Problem) -> None:
    """The largest score may come first, last or anywhere: reversing the keys leaves the output
    unchanged.

        o(k, v and columns of the mask backwards) = o(k, v, mask) = sum_j a_ij v_j

    An online softmax has to rescale its running sums whenever the maximum rises. Without rescaling,
    the output is right only as long as the first tile holds the maximum.
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
def log_sum_exp_is_convex_in_the_queries(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp is convex in the queries. It lies on or above its tangents, whose slope is
    scale times attention with the keys as values.

        lse(q') >= lse(q) + scale <q' - q, attention(q, k, k)>

    It is convex in the scores (S14), which are linear in q. So the clause relates the log-sum-exp,
    the scale and the output to each other without a derivative.
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
    """Every visible key is read, for any number of keys, and nothing else counts as a key.

        o_i = sum_(j < M) a_ij v_j    for any M, a multiple of a tile or not

    The rest of a partial tile must contribute nothing: no score of zero, and no key of the next
    head.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
