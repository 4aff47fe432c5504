"""Section L, concluded. The output of a layer is correct at every size.

`spec.attention.clauses.single_sizes` makes the same claim about attention. An implementation
may choose its kernel from a table with a row for each size, and one row may be wrong. The
sizes are used in turn, so that the standard profile tests each of them: N and M to 130, H to
20, D to 66, B to 8.
"""

from spec.clause import clause
from spec.comparison import equal
from spec.layer.domain import LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.record import Layer
from spec.layer.rounding import budgets

# No key is masked, so each has some weight, also the last one, which bugs lose most often.
EACH = LayerProblems(hiding=("none",), grouped=False, families=("normal",), each=True)


@clause(
    "L48",
    over=EACH,
    catches={"loses_a_token_at_one_length", "leaves_out_the_last_of_eleven_heads"},
    effort=15,
)
def layer_output_is_correct_at_every_size(layer: Layer, problem: LayerProblem) -> None:
    """The output matches the definition at every length, head size, number of heads and batch size.

        y = [o_1 ... o_H] W_o^T + b_o    for N, M = 1 … 130,  H = 1 … 20,  D = 1 … 66,  B = 1 … 8

    Each size is tested together with a few sizes of the other axes. A bug that needs two particular
    sizes at once may be missed.
    """
    y = layer.forward(problem)

    known = budgets(problem)
    equal(y, known.y, within=known.of_output)
