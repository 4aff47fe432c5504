"""Section L, continued. A layer is an object, and its calls are a function still.

Whatever mode the layer is in, and whatever it was asked before, the same question gets the same
answer, and nothing that it was given is changed by it. What is loaded comes back.
"""

from spec.clause import clause
from spec.comparison import equal, holds, same_bits
from spec.layer.domain import LayerProblems
from spec.layer.notation import INPUTS, LayerProblem
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets


@clause(
    "L40",
    over=LayerProblems(asks=("nothing", "mean")),
    needs={Capability.EVALUATION},
    catches={"scales_in_evaluation", "zeroes_padded_queries_in_evaluation"},
    effort=2,
)
def evaluation_is_training_without_dropout(layer: Layer, problem: LayerProblem) -> None:
    """Without dropout, a layer in evaluation gives what it gives in training.

        y(evaluation) = y(training)

    Evaluation may take a faster path; padded rows are rows there too, and the output is as long.
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
def modes_leave_no_trace(layer: Layer, problem: LayerProblem) -> None:
    """Training, evaluation and training again: the third answer is the first, to the bit.

        y, y(evaluation), y    of one object

    A mode is a question that the layer is asked under. It overwrites nothing.
    """
    evaluated = problem.but(training=False)

    first, between, last = layer.sequence((problem, evaluated, problem))

    same_bits(last, first)
    equal(between, first, within=2 * budgets(problem).of_output)


@clause(
    "L42",
    over=LayerProblems(),
    needs={Capability.CALL},
    catches={"normalises_its_input_in_place", "answers_in_the_memory_of_the_query"},
)
def a_call_changes_neither_inputs_nor_parameters(layer: Layer, problem: LayerProblem) -> None:
    """No input and no parameter is changed by a call, and the output has memory of its own.

        query, key, value, masks, parameters after = before, to the bit

    A projection that is normalised or scaled in place is another one at the next call.
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
)
def a_layer_remembers_nothing(layer: Layer, problem: LayerProblem) -> None:
    """What a layer was asked before does not change its answer.

        y(x), y(-x), y(x) of one object: the last is the first, and y(-x) is the definition's

    Contexts that are kept by their shape are those of another text.
    """
    other = problem.but(**{name: -getattr(problem, name) for name in INPUTS})

    first, between, last = layer.sequence((problem, other, problem))

    same_bits(last, first)
    equal(between, budgets(other).y, within=budgets(other).of_output)


@clause(
    "L44",
    over=LayerProblems(),
    needs={Capability.STATE},
    catches={"loads_keys_before_queries", "loads_weights_in_half_precision"},
)
def what_is_loaded_comes_back(layer: Layer, problem: LayerProblem) -> None:
    """The parameters that are loaded are those that are given back, to the bit.

        state(load(p)) = p

    Weights travel between implementations under torch's names; L1 says that they mean the same.
    """
    found = layer.state(problem).named()

    for name, x in problem.parameters.named().items():
        same_bits(found[name], x)
