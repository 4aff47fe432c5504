"""Section X, continued. Sequences of more than 1024 keys or queries.

A block of GPU threads has at most 1024 threads, and 1024 tokens are a common
chunk size. Few tests are that long, so a loop over chunks often runs only once.
Only long sequences test where the second chunk starts, whether the last chunk
is as long as the others, and which rows the loop returns.
"""

from spec.attention import rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, equal_in


@clause(
    "X8",
    over=Problems(tiled="thousands", masks=PLAIN, windows=False, segments=False),
    catches={"counts_keys_twice_beyond_1024", "reads_only_128_keys"},
)
def more_than_1024_keys_are_each_read_once(attention: Implementation, problem: Problem) -> None:
    """The output matches the definition for more than 1024 keys, and for more than 2048.

        o_i = sum_(j < M) a_ij v_j    for M = 1025, 1300, 2049

    If the last chunk is moved back so that it ends at the last key, it contains keys of the chunk
    before. These keys must not count twice.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "X9",
    over=Problems(
        tiled="thousands of queries", masks=PLAIN, windows=False, slopes=False, segments=False
    ),
    catches={"returns_other_queries_beyond_1024"},
)
def more_than_1024_queries_keep_their_rows(attention: Implementation, problem: Problem) -> None:
    """With more than 1024 queries, each output row is that of its query and matches the definition.

        o_i = sum_j a_ij v_j    for i < N,  N = 1025, 1300, 2049

    Queries are split into chunks, as keys are, and the outputs of the chunks are put together
    again.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "X10",
    over=Problems(tiled="thousands", masks=PLAIN, windows=False, segments=False),
    needs={Capability.GRADIENTS},
    catches={"learns_nothing_beyond_1024_keys"},
)
def more_than_1024_keys_receive_gradients(attention: Implementation, problem: Problem) -> None:
    """The gradients match the definition for more than 1024 keys, up to the last key.

        dq_i, dk_j, dv_j    for M = 1025, 1300, 2049

    A backward pass has a separate loop over the keys, with its own chunks.
    """
    gradients = attention.backward(problem)

    want, within = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal_in("qkv", gradients, want, within=within)
