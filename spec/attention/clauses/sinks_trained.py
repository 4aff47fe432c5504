"""Section Z, concluded. Attention sinks are parameters of a model, and training changes them.

A detached parameter keeps its first value for ever. The loss still falls, as everything else is
trained, and nothing raises an exception.
"""

from spec.attention import rounding
from spec.attention.clauses.sinks import near
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import equal


@clause(
    "Z18",
    over=Problems(sinks=True, families=("lattice", "normal", "heavy")),
    needs={Capability.GRADIENTS, Capability.PARTIAL_GRADIENTS},
    catches={"detaches_the_sinks"},
    force="should",
)
def sinks_are_trained_with_the_queries(attention: Implementation, problem: Problem) -> None:
    """If gradients of the queries and of the sinks are requested together, that of the sinks is
    given and correct.

        dt_h = -sum_i exp(t_h - lse_i) <dout_i, o_i>    requested with dq

    Autograd may have no gradient for the sinks, because they were detached. An optimizer then
    leaves them as they are. Z14 explains the formula.
    """
    sunk = near(problem)
    right, budget = rounding.reference(sunk).gradients.sinks, rounding.of_gradients(sunk).sinks
    assert right is not None
    assert budget is not None

    found = attention.partial(sunk, ("q", "sinks"))["sinks"]

    equal(found, right, within=budget)
