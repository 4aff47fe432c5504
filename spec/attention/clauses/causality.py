"""Section C. Under causality, future keys have no influence.

Causal attention masks key j for query i when j > i. Earlier outputs do not change
when later tokens follow. A sequence can therefore be processed as a whole, in chunks
or token by token, and decoding with a cache gives the same result as decoding without.

For N != M the causal diagonal has two possible alignments. Top-left means j <= i.
Bottom-right means j <= i + M - N: the queries are the last N of M tokens. Both are
defined here, and they agree when N = M. An implementation has one of them, and the
problems that it receives declare which.
"""

from dataclasses import replace

import numpy as np

from spec.attention import definition, moves, rounding
from spec.attention.clauses.softmax import seen
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, same_bits
from spec.formats import rounded

CAUSAL = Problems(masks=PLAIN, causal=True)
SQUARE = Problems(masks=PLAIN, causal=True, square=True, positions=False)  # token t at position t
ALONE = replace(SQUARE, sinks=False)
FULL = replace(ALONE, windows=False, slopes=False)  # the whole past is visible, without slopes
SQUARE_OF_TWO = replace(SQUARE, least=(1, 1, 2, 2))
WITH_A_FUTURE = Problems(causal=True, square=True, positions=False, least=(1, 1, 2, 2))


def with_another_future(problem: Problem) -> tuple[int, Problem]:
    """A time t, and the problem with other keys and values from t on."""
    t = problem.chance().randrange(1, problem.N)
    k, v = problem.k.copy(), problem.v.copy()
    k[:, :, t:], v[:, :, t:] = -np.flip(k[:, :, t:], axis=2) + 1, 4 - v[:, :, t:]
    k, v = np.clip(k, -64, 64), np.clip(v, -8, 8)
    k[:, :, :t], v[:, :, :t] = problem.k[:, :, :t], problem.v[:, :, :t]
    return t, problem.but(k=rounded(k, problem.dtype), v=rounded(v, problem.dtype))


@clause(
    "C2",
    over=replace(ALONE, segments=False),
    catches={
        "hides_the_present",
        "sees_one_key_ahead",
        "bounds_the_future_by_fours",
        "ignores_causality",
    },
)
def first_token_attends_only_to_itself(attention: Implementation, problem: Problem) -> None:
    """Under causality, the first query attends to the first key and to no other key.

        o_0 = v_0

    C1 (prefixes) alone would accept a causal mask that also masks the present key.
    """
    o = attention.forward(problem)

    v = definition.shared(problem.v, problem.H)
    equal(o[:, :, 0], v[:, :, 0], within=rounding.of_output(problem)[:, :, 0])


@clause(
    "C3",
    over=WITH_A_FUTURE,
    catches={"ignores_causality", "lets_the_mask_replace_causality", "allows_what_either_allows"},
    promise="length",
)
def future_keys_do_not_change_earlier_outputs(attention: Implementation, problem: Problem) -> None:
    """The keys and values in the future of a query do not change a bit of its output.

        o(k, v)_i = o(k', v')_i    for finite k', v' that differ only at j > i

    This is C1 (prefixes) with equal shapes, so a deterministic program sums in the same order. The
    clause also combines causality with every kind of mask.
    """
    t, other = with_another_future(problem)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(after[:, :, :t], before[:, :, :t])


@clause(
    "C4",
    over=Problems(masks=PLAIN, causal=True, modest=True),
    catches={
        "sees_one_key_ahead",
        "bounds_the_future_by_fours",
        "lets_the_last_query_see_the_last_key",
        "floors_the_exponential",
    },
)
def future_keys_have_exactly_zero_weight(attention: Implementation, problem: Problem) -> None:
    """The weight of a key in the future of a query is exactly zero.

        a_ij = 0    for j in the future of i

    An exponential with a floor above zero gives future keys a small weight that error bounds may
    accept.
    """
    a, _ = seen(attention, problem)

    equal(np.where(problem.future, a, 0), np.zeros(a.shape), within=0)


@clause(
    "C5",
    over=CAUSAL,
    needs={Capability.MASK, Capability.FUTURE},
    catches={
        "lets_the_last_query_see_the_last_key",
        "hides_the_present",
        "bounds_packed_rows",
        "hides_the_past",
    },
)
def causal_flag_equals_causal_mask(attention: Implementation, problem: Problem) -> None:
    """The causal flag gives the same output as the explicit causal mask, for any lengths.

        o(causal) = o(mask = not future)

    For N != M this settles the alignment of the diagonal, which problems with N = M leave open.
    """
    written = moves.written_out(problem)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "C7",
    over=FULL,
    needs={Capability.MASK, Capability.FUTURE},
    catches={"bounds_packed_rows", "transposes_square_masks", "hides_the_present"},
)
def reversing_the_sequence_transposes_the_causal_mask(
    attention: Implementation, problem: Problem
) -> None:
    """Reversing the sequence and transposing the causal mask reverses the output.

        o(x reversed; mask j >= i)_i = o(x; causal)_(N-1-i)

    By P1 and P2 (permutations), keys and queries may be reordered together with their mask.
    Reversing both axes transposes the causal triangle.
    """
    backwards = slice(None, None, -1)
    reversed_in_time = moves.of_keys(moves.of_queries(problem, backwards), backwards)
    mirrored = reversed_in_time.but(causal=False, mask=np.tri(problem.N, dtype=bool).T)

    o, p = attention.forward(problem), attention.forward(mirrored)

    within = rounding.of_output(problem)[:, :, ::-1] + rounding.of_output(mirrored)
    equal(p, o[:, :, ::-1], within=within)


@clause(
    "C8",
    over=replace(FULL, segments=False),
    catches={"favours_recent_keys", "hides_the_past", "drops_the_lightest_key"},
)
def zero_queries_under_causality_give_the_running_mean(
    attention: Implementation, problem: Problem
) -> None:
    """Under causality, queries of zeros return the mean of all values so far.

        o_i = (v_0 + ... + v_i) / (i + 1)    for q = 0

    By B10, a query of zeros returns the mean of the visible values. Query i may attend to i + 1
    keys.
    """
    flat = problem.but(q=np.zeros_like(problem.q))
    v = definition.shared(flat.v, flat.H).astype(np.longdouble)

    o = attention.forward(flat)

    mean = np.cumsum(v, axis=2) / np.arange(1, problem.N + 1)[:, None]
    equal(o, mean, within=rounding.of_output(flat))


@clause(
    "C15",
    over=Problems(causal=True, tiled="keys"),
    catches={
        "sees_the_future_on_whole_tiles",
        "hangs_queries_by_the_room",
        "hangs_queries_at_the_first_key",
        "stands_where_the_old_keys_end",
        "counts_places_on_each_rank",
    },
    effort=2,
)
def causality_holds_on_every_tile(attention: Implementation, problem: Problem) -> None:
    """Future keys are masked on every tile of keys: full or partial, first or last.

        o_i = sum_j a_ij v_j    over the keys j not in the future of i, for any M

    A kernel that applies the causal mask only to partial tiles, at the end of the sequence, misses
    the full ones.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "C14",
    over=Problems(causal=True, scales=("odd",)),
    catches={"drops_the_sign_of_the_scale", "takes_zero_scale_for_none"},
    effort=2,
)
def causality_holds_for_any_scale(attention: Implementation, problem: Problem) -> None:
    """Future keys are masked for every scale, including zero and negative scales.

        o_i = sum_j a_ij v_j    over the keys j not in the future of i, for scale <= 0 too

    -inf times zero is NaN, and -inf times a negative number is +inf. The mask must therefore be
    applied after the scale.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
