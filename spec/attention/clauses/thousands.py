"""Section X, continued. However long: more than a thousand keys, or queries.

A block of threads has 1024 of them, a chunk of 1024 tokens is a round number,
and few tests are as long. So a loop that goes round once in every test is met
in long texts alone: where the second chunk starts, whether the last one is as
long as the others, and which rows it returns.
"""

from spec.attention import rounding
from spec.attention.domain import PLAIN, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "X8",
    over=Problems(tiled="thousands", masks=PLAIN, windows=False, segments=False),
    catches={"counts_keys_twice_beyond_1024", "reads_only_128_keys"},
)
def a_thousand_keys_are_read_once_each(attention: Implementation, problem: Problem) -> None:
    """The output is that of the definition where keys are more than a thousand, or two.

        o_i = sum_(j < M) a_ij v_j    for M = 1025, 1300, 2049

    A last chunk that is moved back, lest it ends behind the last key, has keys of the one before.
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
def a_thousand_queries_stay_in_their_rows(attention: Implementation, problem: Problem) -> None:
    """The output is that of the definition where queries are as many, each in a row of its own.

        o_i = sum_j a_ij v_j    for i < N,  N = 1025, 1300, 2049

    Queries are cut into chunks as keys are, and what comes of chunks is put together again.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "X10",
    over=Problems(tiled="thousands", masks=PLAIN, windows=False, segments=False),
    needs={Capability.GRADIENTS},
    catches={"learns_nothing_beyond_1024_keys"},
)
def a_thousand_keys_are_taught(attention: Implementation, problem: Problem) -> None:
    """The gradients are those of the definition where keys are as many, to the last of them.

        dq_i, dk_j, dv_j    for M = 1025, 1300, 2049

    A backward pass goes round the keys by itself, in chunks of its own.
    """
    gradients = attention.backward(problem)

    want, within = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal(gradients.q, want.q, within=within.q)
    equal(gradients.k, want.k, within=within.k)
    equal(gradients.v, want.v, within=within.v)
