"""Section W, continued. The first keys of a text may stay in sight when a window has passed them.

Models put much of their weight on the first few tokens, whatever these are, and are lost when a
window takes them away; so a cache keeps n of them beside the window (Xiao et al. 2024, "Efficient
Streaming Language Models with Attention Sinks", section 3.2):

    j is seen by i    only if    -L <= j - p_i <= R  or  j < n and j - p_i <= R

They are keys of the text, with scores, values and places of their own: no sinks (section Z), which
have no value. With positions it is those at places below n.
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
from spec.comparison import equal, same_bits

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
def first_keys_are_a_mask(attention: Implementation, problem: Problem) -> None:
    """A window beside which n keys stay is the mask that shows both.

        o(window = (L, R), n) = o(mask = (j - p_i >= -L or j < n) and j - p_i <= R)

    A key that is among the first and in the window as well is one key.
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
def when_all_keys_stay_no_window_passes_any(attention: Implementation, problem: Problem) -> None:
    """As many first keys as there are keys leave a window no bound to the left.

    o(window = (L, R), n = M) = o(window = (None, R))
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
def a_row_is_attention_over_both(attention: Implementation, problem: Problem) -> None:
    """A query with its first keys and those of its window, and no others, is a row of the whole.

        o_t = o(q_t; k[0 : n] and k[t - L : t + R + 1], v likewise)

    This is how a decoder reads one token with a cache that holds these two.
    """
    t, alone = by_itself(problem)

    whole, one = attention.forward(problem), attention.forward(alone)

    within = rounding.of_output(problem)[:, :, t] + rounding.of_output(alone)
    equal(one, whole[:, :, t], within=within)


@clause(
    "W19",
    over=replace(FIRSTS, segments=False, positions=False, least=(1, 1, 1, 4)),
    catches={"keeps_one_key_more", "keeps_whole_tiles", "keeps_the_last_keys"},
    effort=2,
)
def what_lies_between_may_change(attention: Implementation, problem: Problem) -> None:
    """What lies behind the first keys and before the window changes no bit of the output.

        o(k, v)_t = o(k', v')_t    where they differ only at keys that t does not see

    A cache overwrites these, and keeps what stands before them.
    """
    t, other = changed_out_of_sight(problem)

    before, after = attention.forward(problem), attention.forward(other)

    same_bits(after[:, :, t], before[:, :, t])


@clause(
    "W20",
    over=replace(FIRSTS, square=True, least=(1, 1, 64, 64)),
    catches={"ignores_the_first_keys", "keeps_first_keys_of_one_tile", "keeps_whole_tiles"},
    effort=2,
)
def first_keys_stay_however_long_the_text_is(attention: Implementation, problem: Problem) -> None:
    """Between the first keys and a window many tiles may lie, of which none is seen.

        o_i = sum_j a_ij v_j    over the first keys and those in the window of i, for any M

    Who goes from the first tile of a window to its last one goes past the others.
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
def first_keys_stay_beside_all_else(attention: Implementation, problem: Problem) -> None:
    """Masks, causality, sinks, slopes and caps are to first keys what they are to others.

        s_ij = cap(scale <q_i, k_j>) + b_ij - m |p_i - r_j|    for j < n as well

    A slope counts from where a key stands in the text, and not in the cache.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "W22", over=FIRSTS, needs={Capability.GRADIENTS}, catches={"differentiates_without_first_keys"}
)
def first_keys_learn_from_every_query(attention: Implementation, problem: Problem) -> None:
    """A first key gets its gradient from all queries that see it, which a window has left or not.

    dk_j = scale sum_i ds_ij q_i,  dv_j = sum_i a_ij dout_i    over all i with j - p_i <= R, j < n
    """
    found = attention.backward(problem)

    want, within = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal(found.k, want.k, within=within.k)
    equal(found.v, want.v, within=within.v)


@clause(
    "W23",
    over=replace(FIRSTS, positions=True),
    catches={"keeps_the_first_rows", "keeps_the_last_keys"},
    effort=2,
    proof=in_sight.first_keys_are_those_at_the_first_places,
)
def first_keys_are_those_at_the_first_places(attention: Implementation, problem: Problem) -> None:
    """Which keys are first is said by their places, in whatever rows they are.

        o(k, v, r in another order) = o(k, v, r)

    In a cache that is written in turn the first rows may be anywhere.
    """
    before = moves.placed(problem)
    after = moves.of_keys(before, moves.permutation(before, before.M))

    o, p = attention.forward(before), attention.forward(after)

    equal(p, o, within=rounding.of_output(before) + rounding.of_output(after))
