"""Section C, concluded. Other tokens, sequences and calls leave no trace in the outputs of a cache.

Other clauses ask the same to the last bit (C20, C25, C26, C29-C31, C33, C34, C36, C43). That needs
the same order of summation in two calls, which is a promise of the cache (`spec.promises`). Here
the value is required, up to rounding.
"""

from spec.cache import rounding
from spec.cache.clauses.branching import BRANCHES, from_one_state, in_two_forks, since
from spec.cache.clauses.chunks import with_later_tokens
from spec.cache.clauses.going_back import (
    ANY_WINDOW,
    ROLLBACK,
    with_an_idle_rollback,
    with_overwhelming_detours,
)
from spec.cache.clauses.memory import turned
from spec.cache.clauses.together import with_another_head, with_other_padding, with_other_sequences
from spec.cache.clauses.windows import WINDOW, with_earlier_tokens
from spec.cache.domain import Texts
from spec.cache.notation import Problem
from spec.cache.reading import reading
from spec.cache.record import Cache, Capability
from spec.clause import clause
from spec.comparison import equal


@clause(
    "C47",
    over=Texts(least=2),
    catches={"sees_its_whole_chunk", "leaves_empty_places_a_little"},
    effort=2,
)
def later_tokens_leave_no_trace_in_cached_outputs(cache: Cache, problem: Problem) -> None:
    """Later tokens, in the same chunk or in later chunks, leave no trace in an output.

        o(x)_i = o(x')_i    where the sequences x and x' differ only from token t > i on

    This is C20 up to rounding.
    """
    t, other = with_later_tokens(problem)

    before, after = reading(cache, problem), reading(cache, other)

    within = rounding.of_reading(problem) + rounding.of_reading(other)
    equal(after[:, :, :t], before[:, :, :t], within=within[:, :, :t])


@clause(
    "C48",
    over=Texts(windowed=True, least=3),
    needs=WINDOW,
    catches={"forgets_nothing", "sees_one_key_beyond_its_window"},
    effort=2,
)
def tokens_before_window_leave_no_trace(cache: Cache, problem: Problem) -> None:
    """Tokens that lie before the window of a token leave no trace in its output.

        o(x)_i = o(x')_i    where x and x' differ only in tokens 0 to t, and i >= t + W

    This is C43 up to rounding. W is the number of keys in the window, the token's own included.
    """
    begin, problem, other = with_earlier_tokens(problem)

    before, after = reading(cache, problem), reading(cache, other)

    within = rounding.of_reading(problem) + rounding.of_reading(other)
    equal(after[:, :, begin:], before[:, :, begin:], within=within[:, :, begin:])


@clause(
    "C49",
    over=ANY_WINDOW,
    needs=ROLLBACK,
    catches={
        "sees_what_was_taken_back",
        "lowers_what_is_hidden_by_ten_thousand",
        "leaves_empty_places_a_little",
        "takes_back_one_too_few",
    },
    effort=2,
)
def rolled_back_tokens_leave_no_trace(cache: Cache, problem: Problem) -> None:
    """Tokens that were rolled back leave no trace in later outputs, however large they were.

        o(x[t:]; after rollback of y) = o(x[t:]; after rollback of y')

    This is C25 up to rounding.
    """
    o, p = with_overwhelming_detours(cache, problem)

    equal(p, o, within=2 * rounding.of_reading(problem))


@clause(
    "C50",
    over=ANY_WINDOW,
    needs=BRANCHES,
    catches={
        "branches_into_itself",
        "branches_without_the_last_token",
        "branches_without_the_window",
    },
)
def forks_of_a_prefix_leave_no_trace_in_each_other(cache: Cache, problem: Problem) -> None:
    """Two forks of a cached prefix both give the outputs of one pass over the whole sequence.

        o(x[t:]; first fork of cache of x[:t]) = o(x[t:]; second fork) = o(x; causal)[t:]

    This is C29 up to rounding. The pass has the window of the cache, if there is one.
    """
    here = since(problem, problem.place())

    problem, o, p = in_two_forks(cache, problem)

    want, within = here * rounding.reference(problem), here * rounding.of_reading(problem)
    equal(o, want, within=within)
    equal(p, want, within=within)


@clause(
    "C51",
    over=ANY_WINDOW,
    needs={Capability.PERSISTENT},
    catches={"promises_what_it_does_not_keep"},
)
def extending_a_persistent_state_leaves_no_trace(cache: Cache, problem: Problem) -> None:
    """If a cache promises that states never change, extending one leaves no trace in it.

        o'(x[t:]; s) = o(x[t:]; s)    o' after the same state s was extended by other tokens

    This is C30 up to rounding.
    """
    problem, o, p = from_one_state(cache, problem)

    equal(p, o, within=2 * rounding.of_reading(problem))


@clause("C52", over=Texts(sequences=2), catches={"reads_the_first_sequence_for_all"})
def other_sequences_leave_no_trace_in_a_cache(cache: Cache, problem: Problem) -> None:
    """Other sequences of a batch leave no trace in the outputs of a sequence.

        o(x)_b = o(x')_b    where x and x' differ in other sequences only

    This is C31 up to rounding.
    """
    b, other = with_other_sequences(problem)

    o, p = reading(cache, problem), reading(cache, other)

    equal(p[b], o[b], within=rounding.of_reading(problem)[b] + rounding.of_reading(other)[b])


@clause("C53", over=Texts(sequences=2, ragged=True), catches={"takes_padding_for_text"}, effort=2)
def chunk_padding_leaves_no_trace(cache: Cache, problem: Problem) -> None:
    """The padding of a chunk leaves no trace in the outputs of its tokens.

        o(x; padded with y) = o(x; padded with y')

    This is C33 up to rounding.
    """
    o, p = reading(cache, problem), reading(cache, with_other_padding(problem))

    equal(p, o, within=2 * rounding.of_reading(problem))


@clause("C54", over=Texts(heads=2), catches={"reads_the_first_head_for_all"}, effort=2)
def other_key_heads_leave_no_trace_in_a_cache(cache: Cache, problem: Problem) -> None:
    """A key head leaves no trace in the outputs of query heads that do not read it.

        o(x)_h = o(x')_h    where k and v differ only in key heads that h does not read

    This is C34 up to rounding.
    """
    apart, other = with_another_head(problem)

    o, p = reading(cache, problem), reading(cache, other)

    within = rounding.of_reading(problem) + rounding.of_reading(other)
    equal(p[:, apart], o[:, apart], within=within[:, apart])


@clause(
    "C55", over=Texts(), catches={"starts_where_the_last_text_ended", "remembers_answers_by_shape"}
)
def other_caches_leave_no_trace_in_a_new_one(cache: Cache, problem: Problem) -> None:
    """Other caches leave no trace in the outputs of a new cache.

        o_3(x) = o_1(x)    for o_1(x), o_2(x'), o_3(x) in this order, each with a new cache

    This is C36 up to rounding.
    """
    other = problem.but(**dict(zip("qkv", turned(problem), strict=True)))

    first, between, again = (reading(cache, x) for x in (problem, other, problem))

    equal(first, rounding.reference(problem), within=rounding.of_reading(problem))
    equal(between, rounding.reference(other), within=rounding.of_reading(other))
    equal(again, rounding.reference(problem), within=rounding.of_reading(problem))


@clause(
    "C56",
    over=ANY_WINDOW,
    needs=ROLLBACK,
    catches={"takes_all_sequences_back_to_the_shortest", "takes_back_one_too_many"},
    effort=4,
)
def rollback_to_current_length_leaves_no_trace(cache: Cache, problem: Problem) -> None:
    """Rolling all sequences back to their current lengths leaves no trace.

        o(x[t:]; rollback of (cache of x[:t]) to t) = o(x[t:]; cache of x[:t])

    This is C26 up to rounding.
    """
    problem, o, p, q = with_an_idle_rollback(cache, problem)

    within = rounding.of_reading(problem)
    equal(p, q, within=2 * within)
    equal(o + p, rounding.reference(problem), within=within)
