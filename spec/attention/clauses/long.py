"""Section X, concluded. Sequences of up to 2^20 keys or queries.

Models are served with 128 000 to a million keys. A counter of 16 bits wraps at 65 536, a count in
bfloat16 stays at 256 and one in float16 at 2048, and a buffer of fixed size ends somewhere. The
quick profile has problems of up to 2^12 keys, the standard one of up to 2^17 and deep of up to
2^20. One is always that long. So a function that is right up to some length, and wrong for all
that are longer, is rejected by each profile that reaches beyond it. A fault at a single length may
be missed. Each problem has few queries or few keys, so that its matrix of scores stays small
(`spec.attention.planted`).
"""

from spec.attention import rounding
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.planted import Planted
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, equal_in

KEYS, QUERIES = Planted(along="keys"), Planted(along="queries")


@clause(
    "X11",
    over=KEYS,
    catches={
        "adds_ones_up_to_2048",
        "adds_weights_up_to_65504",
        "adds_weights_within_65504",
        "counts_keys_twice_beyond_65536",
        "drops_the_rest_of_16384_keys",
        "ignores_keys_beyond_50000",
        "numbers_keys_in_float16",
        "reads_one_key_for_all_beyond_32767",
        "reads_the_first_keys_again_beyond_65536",
    },
)
def a_million_keys_are_each_read_once(attention: Implementation, problem: Problem) -> None:
    """The output matches the definition for up to 2^20 keys.

        o_i = sum_(j < M) a_ij v_j    for M up to 2^12 (quick), 2^17 (standard), 2^20 (deep)

    In some problems a few planted keys have most of the weight, so each of them shows in the output
    if it is not read, or read twice. In the others all keys share the weight, and the output shows
    whether many of them are lost or counted twice.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "X12",
    over=KEYS,
    needs={Capability.GRADIENTS},
    catches={
        "adds_value_gradients_to_the_first_keys",
        "learns_nothing_beyond_65536_keys",
        "leaves_keys_beyond_65536_out_of_dq",
        "leaves_keys_beyond_65536_out_of_the_row_term",
    },
)
def a_million_keys_receive_gradients(attention: Implementation, problem: Problem) -> None:
    """The gradients match the definition for up to 2^20 keys, up to the last key.

        dq_i, dk_j, dv_j    for M up to 2^12 (quick), 2^17 (standard), 2^20 (deep)

    A backward pass has a separate loop over the keys, with its own offsets.
    """
    gradients = attention.backward(problem)

    want, within = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal_in("qkv", gradients, want, within=within)


@clause(
    "X13",
    over=KEYS,
    needs={Capability.LSE},
    catches={
        "measures_65536_keys",
        "measures_keys_twice_beyond_65536",
        "measures_sums_up_to_65504",
    },
)
def a_million_keys_are_measured(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp matches the definition for up to 2^20 keys.

        lse_i = log sum_(j < M) exp(s_ij)    for M up to 2^12 (quick), 2^17 (standard), 2^20 (deep)

    Parts are merged by their log-sum-exps. A sum of exponentials in float16 stops at 2048, and then
    the log-sum-exp is wrong even where the output is right.
    """
    lse = attention.lse(problem)

    equal(lse, rounding.reference(problem).lse, within=rounding.of_lse(problem))


@clause(
    "X14",
    over=QUERIES,
    catches={
        "drops_the_rest_of_16384_queries",
        "returns_the_first_queries_again_beyond_65536",
        "returns_zero_beyond_50000_queries",
    },
)
def a_million_queries_keep_their_rows(attention: Implementation, problem: Problem) -> None:
    """With up to 2^20 queries, each output row is that of its query and matches the definition.

        o_i = sum_j a_ij v_j    for i < N,  N up to 2^12 (quick), 2^17 (standard), 2^20 (deep)

    The offset of a row in memory is its number times the head size, so it needs more than 16 bits
    before the number does.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "X15",
    over=QUERIES,
    needs={Capability.GRADIENTS},
    catches={
        "counts_queries_twice_beyond_65536_in_dv",
        "learns_nothing_beyond_65536_queries",
        "leaves_queries_beyond_65536_out_of_dk",
    },
)
def a_million_queries_pass_gradients_on(attention: Implementation, problem: Problem) -> None:
    """With up to 2^20 queries, the gradients match the definition, and count each query once.

        dq_i, dk_j, dv_j    for N up to 2^12 (quick), 2^17 (standard), 2^20 (deep)

    The gradients of keys and values are sums over all queries.
    """
    gradients = attention.backward(problem)

    want, within = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal_in("qkv", gradients, want, within=within)
