"""Section L, concluded. No single size is an exception to a layer.

As for attention (`spec.attention.clauses.single_sizes`): a table of kernels has a row for each
size, and one may be wrong. Sizes come in turn, so that the standard profile meets each: N and M to
130, H to 20, D to 66, B to 8.
"""

from spec.clause import clause
from spec.comparison import equal
from spec.layer.domain import LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.record import Layer
from spec.layer.rounding import budgets

# Every key is seen and has some weight, also the last one, which is the first to be lost.
EACH = LayerProblems(hiding=("none",), grouped=False, families=("normal",), each=True)


@clause(
    "L48",
    over=EACH,
    catches={"loses_a_token_at_one_length", "leaves_out_the_last_of_eleven_heads"},
    effort=15,
)
def no_size_is_an_exception_to_a_layer(layer: Layer, problem: LayerProblem) -> None:
    """The output is that of the definition at every length, width and number of heads.

        y = [o_1 ... o_H] W_o^T + b_o    for N, M = 1 … 130,  H = 1 … 20,  D = 1 … 66,  B = 1 … 8

    Each is met, beside a few sizes of the other axes; a fault that needs two of them may not be.
    """
    y = layer.forward(problem)

    known = budgets(problem)
    equal(y, known.y, within=known.of_output)
