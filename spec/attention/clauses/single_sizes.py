"""Section A, concluded. Outputs, log-sum-exps and gradients are correct at every single size.

Fast code depends on sizes: a table selects the kernel, the head size selects the tile, and
allocations are rounded up. One wrong table entry breaks a single length, head size or number of
heads, which need not be at any boundary. All other clauses draw random sizes. The clauses here
take sizes in turn, so that the standard profile covers each one: N and M to 130, D and E to 66,
B to 8, H to 20 (`spec.sizes`). Targets that compile for each shape are exempt.
"""

from spec.attention import rounding
from spec.attention.domain import SLIGHT, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal, equal_in

# Every key is visible and has some weight. So has the last key, which bugs lose first: no segment
# ends before it, no slope lowers its score by its distance, and scores are of order one.
EACH = Problems(
    masks=("none", "all true", *SLIGHT),
    families=("normal",),
    scales=("default",),
    windows=False,
    positions=False,
    segments=False,
    slopes=False,
    each=True,
    few=True,
)


@clause(
    "A11",
    over=EACH,
    catches={"loses_a_key_at_one_length", "mixes_up_heads_if_there_are_five"},
    effort=12,
)
def output_is_correct_at_every_size(attention: Implementation, problem: Problem) -> None:
    """The output matches the definition at every length, head size, batch size and head count.

        o_i = sum_j a_ij v_j    for N, M = 1 … 130,  D, E = 1 … 66,  B = 1 … 8,  H = 1 … 20

    In the standard profile, each size of one axis occurs with a few sizes of the other axes. A bug
    that needs two particular sizes at once may be missed.
    """
    o = attention.forward(problem)

    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))


@clause(
    "A12",
    over=EACH,
    needs={Capability.GRADIENTS},
    catches={"leaves_stale_columns_at_one_width", "loses_a_query_at_one_length"},
    effort=12,
)
def gradients_are_correct_at_every_size(attention: Implementation, problem: Problem) -> None:
    """The gradients match the definition at every length, head size, batch size and head count.

        dq_i, dk_j, dv_j as in A2, A3 and A4
        for N, M = 1 … 130,  D, E = 1 … 66,  B = 1 … 8,  H = 1 … 20

    A backward pass has its own tiles and allocations, so it may fail at other sizes than the
    forward pass.
    """
    gradients = attention.backward(problem)

    want, within = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal_in("qkv", gradients, want, within=within)


@clause(
    "A13",
    over=EACH,
    needs={Capability.LSE},
    catches={"measures_all_keys_but_one_at_one_length"},
    effort=12,
)
def log_sum_exp_is_correct_at_every_size(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp matches the definition at every length, head size, batch size and head count.

        lse_i as in A7    for N, M = 1 … 130,  D, E = 1 … 66,  B = 1 … 8,  H = 1 … 20

    A kernel stores the log-sum-exp in an array of its own, whose layout depends on other sizes than
    that of the output. If the log-sum-exp is stored in the wrong place, A11 may still hold.
    """
    lse = attention.lse(problem)

    equal(lse, rounding.reference(problem).lse, within=rounding.of_lse(problem))
