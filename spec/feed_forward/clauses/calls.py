"""Section F, continued. The call is a function.

As section T says of attention: it leaves its inputs alone, answers the same question the
same way, and remembers nothing. A gate is the kind of thing that is applied in place.
"""

import numpy as np

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal, leaves_its_inputs_alone, same_bits
from spec.feed_forward.domain import Problems
from spec.feed_forward.notation import FeedForward, Problem
from spec.feed_forward.rounding import bounds, of_output


@clause("F23", over=Problems(), needs={Capability.CALL}, catches={"adds_the_residual_in_place"})
def inputs_are_left_alone(network: FeedForward, problem: Problem) -> None:
    """No input is changed by the call, and the output has memory of its own.

        x, W1, b1, W2, b2 after = x, W1, b1, W2, b2 before, to the bit

    What is done in place gives the right output, and a wrong residual sum after it.
    """
    leaves_its_inputs_alone(network.call(problem))


@clause("F24", over=Problems(), catches={"drops_units_at_random", "remembers_outputs_by_shape"})
def nothing_is_remembered(network: FeedForward, problem: Problem) -> None:
    """The same question has the same answer, to the bit, and another question its own.

        F(x), F(-x), F(x)    and the last is the first

    F(-x) is compared with the definition: a cache by shape would repeat F(x).
    """
    other = problem.but(x=-problem.x)

    first, between, last = (network.forward(p) for p in (problem, other, problem))

    same_bits(last, first)
    equal(between, bounds(other).y, within=of_output(other))


@clause(
    "F25", over=Problems(), needs={Capability.GRADIENTS}, catches={"accumulates_bias_gradients"}
)
def gradients_start_from_nothing(network: FeedForward, problem: Problem) -> None:
    """Gradients asked for twice are the same, to the bit, and the output is as before.

        d(x), d(x)    and F(x) before = F(x) after

    Gradients that add to those of the last call are a choice of frameworks, not of functions.
    """
    before = network.forward(problem)
    first, second = network.backward(problem), network.backward(problem)

    for name in ("x", "W1", "b1", "W2", "b2"):
        same_bits(np.asarray(getattr(second, name)), np.asarray(getattr(first, name)))
    same_bits(network.forward(problem), before)
