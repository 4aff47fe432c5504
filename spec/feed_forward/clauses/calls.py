"""Section F, continued. Calls of the network have no side effects.

These are the claims of section T about attention: a call modifies no input, the same input
gives the same output, and no state is kept. Implementations often apply a ReLU in place.
"""

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal, leaves_its_inputs_alone
from spec.feed_forward.domain import Problems
from spec.feed_forward.notation import FeedForward, Problem
from spec.feed_forward.rounding import bounds, of_gradients, of_output


@clause("F23", over=Problems(), needs={Capability.CALL}, catches={"adds_the_residual_in_place"})
def feed_forward_call_does_not_modify_inputs(network: FeedForward, problem: Problem) -> None:
    """A call modifies no input, and the output has its own memory.

        x, W1, b1, W2, b2 after = x, W1, b1, W2, b2 before, to the bit

    An operation in place gives the right output, but the residual sum after it is wrong.
    """
    leaves_its_inputs_alone(network.call(problem))


@clause("F24", over=Problems(), catches={"drops_units_at_random", "remembers_outputs_by_shape"})
def feed_forward_output_ignores_earlier_calls(network: FeedForward, problem: Problem) -> None:
    """The output depends only on the arguments of the call, and not on earlier calls.

        F(x), F(-x), F(x)    and the last equals the first

    F(-x) is compared with the definition, because code that keeps results by shape repeats F(x).
    """
    other = problem.but(x=-problem.x)

    first, between, last = (network.forward(p) for p in (problem, other, problem))

    equal(last, first, within=2 * of_output(problem))
    equal(between, bounds(other).y, within=of_output(other))


@clause(
    "F25", over=Problems(), needs={Capability.GRADIENTS}, catches={"accumulates_bias_gradients"}
)
def feed_forward_gradients_do_not_accumulate(network: FeedForward, problem: Problem) -> None:
    """Two backward passes give the same gradients, and the output stays the same.

        second d(x) = first d(x)    and    F(x) before = F(x) after

    Here d(x) are all gradients, and F(x) is the output. Some frameworks add new gradients to those
    of the last call. A function must not do that.
    """
    before = network.forward(problem)
    first, second = network.backward(problem), network.backward(problem)

    budget = of_gradients(problem)
    for name in ("x", "W1", "b1", "W2", "b2"):
        equal(getattr(second, name), getattr(first, name), within=2 * getattr(budget, name))
    equal(network.forward(problem), before, within=2 * of_output(problem))
