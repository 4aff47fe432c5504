"""Section D, ended. A call does not modify its inputs.

Section T tests the same for attention, and clause F23 for the feed-forward layer: the
caller still needs its arrays after the call. The random mask may differ from call to call.
The memory of the caller's arrays must stay untouched.
"""

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import leaves_its_inputs_alone
from spec.dropout.domain import Problems
from spec.dropout.notation import Dropout, Problem


@clause(
    "D25",
    over=Problems(),
    needs={Capability.CALL},
    catches={"answers_where_the_queries_were"},
    effort=2,
)
def dropout_does_not_modify_its_inputs(network: Dropout, problem: Problem) -> None:
    """A call changes none of its inputs, and the output has its own memory.

        q, k, v, mask after = q, k, v, mask before, to the bit

    If a call computes in place, its own output is right. The residual sum of input and output that
    a model computes next is wrong, because the input has changed.
    """
    leaves_its_inputs_alone(network.call(problem))
