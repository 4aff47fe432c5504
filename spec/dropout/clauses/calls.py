"""Section D, ended. The call is a function, but for its draws.

Section T asks this of attention, and F23 of what follows it: inputs belong to whoever goes on
with them. What is drawn may differ from call to call; whose memory is whose may not.
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
def inputs_are_left_alone(network: Dropout, problem: Problem) -> None:
    """No input is changed by a call, and the output has memory of its own.

        q, k, v, mask after = q, k, v, mask before, to the bit

    What is done in place gives the right output, and a wrong residual sum after it.
    """
    leaves_its_inputs_alone(network.call(problem))
