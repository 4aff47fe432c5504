"""Section L, continued. Calls of a layer have no side effects.

A layer is an object, but its output is a function of the inputs and the parameters. Without
dropout, neither the mode nor earlier calls change it. A call modifies nothing that it
receives. Loaded parameters are returned unchanged.
"""

from spec.clause import clause
from spec.comparison import equal, holds, same_bits
from spec.layer.domain import LayerProblems
from spec.layer.notation import INPUTS, LayerProblem
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets


def negated(problem: LayerProblem) -> LayerProblem:
    """The problem with inputs of the other sign."""
    return problem.but(**{name: -getattr(problem, name) for name in INPUTS})


@clause(
    "L40",
    over=LayerProblems(asks=("nothing", "mean")),
    needs={Capability.EVALUATION},
    catches={"scales_in_evaluation", "zeroes_padded_queries_in_evaluation"},
    effort=2,
)
def evaluation_equals_training_without_dropout(layer: Layer, problem: LayerProblem) -> None:
    """Without dropout, a layer gives the same output in evaluation mode as in training mode.

        y(evaluation) = y(training)

    Evaluation may take a faster code path. That path, too, has to compute the rows of padding
    tokens and return an output of full length.
    """
    evaluated = problem.but(training=False)

    y, p = layer.forward(problem), layer.forward(evaluated)

    equal(p, y, within=2 * budgets(problem).of_output)


@clause(
    "L41",
    over=LayerProblems(arrays=(1,)),
    needs={Capability.EVALUATION},
    catches={"evaluates_for_ever", "scales_in_evaluation"},
)
def switching_to_evaluation_and_back_changes_nothing(layer: Layer, problem: LayerProblem) -> None:
    """Switching to evaluation mode and back to training mode restores the output.

        y_3 = y_1    call 2 of the same object, in evaluation mode, comes between; no dropout

    The check calls one layer in training mode, in evaluation mode, and in training mode again. Both
    modes give the same output up to rounding. The clause catches a layer that turns something off
    for evaluation and never turns it on again.
    """
    evaluated = problem.but(training=False)

    first, between, last = layer.sequence((problem, evaluated, problem))

    for output in (between, last):
        equal(output, first, within=2 * budgets(problem).of_output)


@clause(
    "L42",
    over=LayerProblems(),
    needs={Capability.CALL},
    catches={"normalises_its_input_in_place", "answers_in_the_memory_of_the_query"},
)
def a_call_changes_neither_inputs_nor_parameters(layer: Layer, problem: LayerProblem) -> None:
    """A call modifies no input and no parameter, and the output shares no memory with them.

        query, key, value, masks, parameters after = before, to the bit

    A projection that is normalised or scaled in place is a different projection in the next call.
    """
    call = layer.call(problem)

    changed, shared = ", ".join(call.changed), ", ".join(call.aliased)
    holds(not call.changed, f"the call wrote into {changed}")
    holds(not call.aliased, f"the output shares memory with {shared}")


@clause(
    "L43",
    over=LayerProblems(hiding=("none", "padding")),
    needs={Capability.EVALUATION},
    catches={"remembers_answers_to_a_shape", "answers_otherwise_every_third_time"},
    promise="run",
)
def layer_output_ignores_earlier_calls(layer: Layer, problem: LayerProblem) -> None:
    """The output of a layer does not depend on earlier calls, bit for bit.

        y(x), y(-x), y(x) of one object: the last equals the first, and y(-x) is as defined

    L52 allows another order of sums in each call.
    """
    other = negated(problem)

    first, between, last = layer.sequence((problem, other, problem))

    same_bits(last, first)
    equal(between, budgets(other).y, within=budgets(other).of_output)


@clause(
    "L52",
    over=LayerProblems(hiding=("none", "padding")),
    needs={Capability.EVALUATION},
    catches={"remembers_answers_to_a_shape"},
)
def earlier_calls_leave_no_trace_in_a_layer(layer: Layer, problem: LayerProblem) -> None:
    """Earlier calls leave no trace in the output of a layer.

        y(x), y(-x), y(x) of one object: each is as defined

    Code that keeps results by shape returns the result for another sequence.
    """
    problems = (problem, negated(problem), problem)

    for put, y in zip(problems, layer.sequence(problems), strict=True):
        equal(y, budgets(put).y, within=budgets(put).of_output)


@clause(
    "L44",
    over=LayerProblems(),
    needs={Capability.STATE},
    catches={"loads_keys_before_queries", "loads_weights_in_half_precision"},
)
def loaded_parameters_are_returned_unchanged(layer: Layer, problem: LayerProblem) -> None:
    """Parameters that are loaded into a layer are read back unchanged, bit for bit.

        state(load(p)) = p

    Implementations exchange weights under torch's names. L1 checks how they are used.
    """
    found = layer.state(problem).named()

    for name, x in problem.parameters.named().items():
        same_bits(found[name], x)
