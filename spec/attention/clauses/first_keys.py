"""Section W, continued. Leading keys may stay visible when a window has moved past them.

Models put much of their attention on the first few tokens, whatever these are, and their quality
collapses when a window masks these tokens. A cache therefore keeps the n leading keys together
with the window (Xiao et al. 2024, "Efficient Streaming Language Models with Attention Sinks",
section 3.2):

    j is visible to i    only if    -L <= j - p_i <= R  or  j < n and j - p_i <= R

Leading keys are ordinary keys of the sequence, with scores, values and positions. They are not
the attention sinks of section Z, which have no value. If positions are given, the leading keys
are those at positions below n.
"""

from dataclasses import replace

from spec.attention import moves, rounding
from spec.attention.clauses.window_edges import by_itself, changed_out_of_sight
from spec.attention.clauses.windows import SQUARE
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.proofs import in_sight
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, equal_in, same_bits

FIRSTS = Problems(masks=PLAIN, windows=True, firsts=True)


@clause(
    "W16",
    over=FIRSTS,
    needs={Capability.MASK},
    catches={
        "ignores_the_first_keys",
        "keeps_one_key_more",
        "keeps_one_key_less",
        "keeps_the_last_keys",
        "shows_first_keys_ahead",
        "takes_first_keys_from_the_window",
        "forgets_first_keys_beside_causality",
        "takes_sinks_for_the_first_keys",
        "counts_first_keys_twice",
    },
    effort=2,
)
def window_with_leading_keys_equals_its_mask(attention: Implementation, problem: Problem) -> None:
    """A window with n leading keys equals the mask whose left bound does not apply to these keys.

        o(window = (L, R), n) = o(mask = (r_j - p_i >= -L or r_j < n) and r_j - p_i <= R)

    Here p_i and r_j are the positions of query i and key j. A key that is both a leading key and in
    the window counts once.
    """
    written = moves.written_out(problem)

    o, p = attention.forward(problem), attention.forward(written)

    equal(o, p, within=rounding.of_output(problem) + rounding.of_output(written))


@clause(
    "W17",
    over=replace(FIRSTS, positions=False),
    catches={"ignores_the_first_keys", "keeps_one_key_less", "takes_sinks_for_the_first_keys"},
    proof=in_sight.when_all_keys_stay_no_window_passes_any,
)
def keeping_all_keys_removes_the_left_window_bound(
    attention: Implementation, problem: Problem
) -> None:
    """If all M keys are leading keys, the window has no left bound.

        o(window = (L, R), n = M) = o(window = (None, R))

    Every key satisfies j < n, so only the right bound can mask a key.
    """
    every = problem.but(first=problem.M)
    unbounded = problem.but(first=0, window=(None, problem.window[1]))

    o, p = attention.forward(every), attention.forward(unbounded)

    equal(o, p, within=rounding.of_output(every) + rounding.of_output(unbounded))


@clause(
    "W18",
    over=replace(SQUARE, firsts=True, slopes=False, segments=False),
    needs={Capability.FUTURE},
    catches={
        "ignores_the_first_keys",
        "counts_first_keys_twice",
        "takes_first_keys_from_the_window",
        "keeps_whole_tiles",
    },
    effort=2,
    proof=in_sight.a_row_is_its_first_keys_and_its_window,
)
def query_attends_only_to_leading_keys_and_window(
    attention: Implementation, problem: Problem
) -> None:
    """Attention over only the leading keys and window of a query gives its row of the full output.

        o_t = o(q_t; k[J], v[J])    J: the keys j with (j >= t - L or j < n) and j <= t + R

    Here n is the number of leading keys, and (L, R) the window. With causality, J ends with j = t.
    A decoder computes one token in this way, from a cache that holds only the keys J.
    """
    t, alone = by_itself(problem)

    whole, one = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[:, :, t] + rounding.of_output(alone)
    equal(one, whole[:, :, t], within=within)


@clause(
    "W19",
    over=replace(FIRSTS, segments=False, positions=False, least=(1, 1, 1, 4)),
    catches={"keeps_one_key_more", "keeps_whole_tiles", "keeps_the_last_keys"},
    promise="length",
)
def keys_neither_leading_nor_in_window_have_no_influence(
    attention: Implementation, problem: Problem
) -> None:
    """Keys outside the window that are not leading keys do not change a bit of a query's output.

        o(k, v)_t = o(k', v')_t    where they differ only at keys that are masked for t

    A cache overwrites these keys and keeps the leading keys before them.
    """
    t, other = changed_out_of_sight(problem)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(after[:, :, t], before[:, :, t])


@clause(
    "W20",
    over=replace(FIRSTS, square=True, least=(1, 1, 64, 64)),
    catches={
        "ignores_the_first_keys",
        "keeps_first_keys_of_one_tile",
        "keeps_whole_tiles",
        "adds_the_position_of_the_key_first",
    },
    effort=2,
)
def leading_keys_stay_visible_in_long_sequences(
    attention: Implementation, problem: Problem
) -> None:
    """Leading keys stay visible however many masked tiles lie between them and the window.

        o_i = sum_j a_ij v_j    over the leading keys and those in the window of i, for any M

    A loop from the first to the last tile of the window misses the tiles of the leading keys.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "W21",
    over=replace(FIRSTS, masks=("none", "scattered", "additive"), slopes=None),
    catches={
        "forgets_first_keys_beside_a_mask",
        "has_first_keys_stand_next_to_the_window",
        "takes_sinks_for_the_first_keys",
        "forgets_first_keys_beside_causality",
    },
    effort=2,
)
def leading_keys_combine_with_all_other_options(
    attention: Implementation, problem: Problem
) -> None:
    """Masks, causality, attention sinks, ALiBi slopes and soft-caps apply to leading keys too.

        s_ij = cap(scale <q_i, k_j>) + b_ij - m_h |p_i - r_j|    for r_j < n as well

    Here n is the number of leading keys, p_i and r_j are the positions of query i and key j, and
    m_h is the slope. A slope uses the position of a key in the sequence, not its row in the cache.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "W22", over=FIRSTS, needs={Capability.GRADIENTS}, catches={"differentiates_without_first_keys"}
)
def leading_keys_receive_gradients_from_distant_queries(
    attention: Implementation, problem: Problem
) -> None:
    """A leading key receives gradients from every query that may attend to it, near or distant.

        dk_j = scale sum_i dt_ij q_i,  dv_j = sum_i a_ij dout_i
        over all i to which the leading key j is visible, in every head that reads it

    Here dt_ij is the derivative of the loss by scale <q_i, k_j>. A backward pass that visits only
    the window loses the distant queries.
    """
    found = attention.backward(problem)

    want, within = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal_in("kv", found, want, within=within)


@clause(
    "W23",
    over=replace(FIRSTS, positions=True),
    catches={"keeps_the_first_rows", "keeps_the_last_keys"},
    effort=2,
    proof=in_sight.first_keys_are_those_at_the_first_places,
)
def leading_keys_are_chosen_by_position(attention: Implementation, problem: Problem) -> None:
    """The positions of keys, not their storage rows, decide which of them are leading keys.

        o(k, v, r in another order) = o(k, v, r)

    Here r are the positions of the keys. In a cache that works as a ring buffer, the leading keys
    may be in any rows.
    """
    before = moves.placed(problem)
    after = moves.of_keys(before, moves.permutation(before, before.M))

    o, p = attention.forward(before), attention.forward(after)

    equal(p, o, within=rounding.of_output(before) + rounding.of_output(after))
