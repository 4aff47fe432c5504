"""Section A, concluded. No single size is an exception.

Fast code is made for sizes: a table says which kernel runs for which, a tile is chosen for a width,
an allocation is rounded. So one row of a table can be wrong, and then a single length, width or
number of heads is, which is at the edge of nothing. Sizes are random in all other clauses. Here
they come in turn, so that the standard profile meets each: N and M to 130, D and E to 66, B to 8,
H to 20 (`spec.sizes`). A target that compiles for each shape is spared that.
"""

from spec.attention import rounding
from spec.attention.domain import SLIGHT, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal

# Every key is seen and has some weight, also the last one, which is the first to be lost: no text
# ends before it, no slope takes from it what it is away, and scores are of about one.
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
def no_size_is_an_exception(attention: Implementation, problem: Problem) -> None:
    """The output is that of the definition at every length, width and number of heads.

        o_i = sum_j a_ij v_j    for N, M = 1 … 130,  D, E = 1 … 66,  B = 1 … 8,  H = 1 … 20

    Each is met, beside a few sizes of the other axes; a fault that needs two of them may not be.
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
def no_size_is_an_exception_to_gradients(attention: Implementation, problem: Problem) -> None:
    """The gradients are those of the definition at every length, width and number of heads.

        dq_i, dk_j, dv_j    for N, M = 1 … 130,  D, E = 1 … 66,  B = 1 … 8,  H = 1 … 20

    A backward pass has tiles and allocations of its own, and other sizes are its exceptions.
    """
    gradients = attention.backward(problem)

    want, within = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    equal(gradients.q, want.q, within=within.q)
    equal(gradients.k, want.k, within=within.k)
    equal(gradients.v, want.v, within=within.v)
