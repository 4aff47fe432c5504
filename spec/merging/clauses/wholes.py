"""Section Q, continued. Merging the parts of an attention problem gives the whole.

The inputs of these merges are results of attention (`spec.attention`) for the keys of each
part. The keys may be split in any way: into adjacent blocks or interleaved, evenly or
unevenly, and with parts that have no key.
"""

from functools import partial, reduce

from spec.attention import definition as attention
from spec.attention import rounding as budgets
from spec.attention.notation import Problem as Attention
from spec.attention.options import Capability
from spec.attention.proofs import blocks
from spec.clause import clause
from spec.comparison import equal
from spec.merging import definition, parts
from spec.merging.domain import Problems
from spec.merging.notation import Merging, Problem
from spec.merging.rounding import of_gradients, of_state


def make_the_whole(merging: Merging, problem: Problem, whole: Attention) -> None:
    """Raise Violation unless merging the parts of an attention problem gives the whole."""
    states = map(parts.answered, parts.cut(whole, problem.chance()))

    found = reduce(partial(parts.merged, merging, problem), states)

    right = budgets.reference(whole)
    equal(found.state.o, right.o, within=found.within.o)
    equal(found.state.lse, right.lse, within=found.within.lse)


@clause(
    "Q14",
    over=Problems(),
    catches={
        "averages_the_outputs",
        "forgets_to_renormalise",
        "overwrites_by_an_idle_split",
        "returns_the_larger",
    },
    proof=blocks.merging_blocks_gives_the_whole,
)
def merging_key_splits_gives_full_attention(merging: Merging, problem: Problem) -> None:
    """If the keys are split into any parts and attention is computed for each part, merging the
    parts gives attention over all keys.

        merge(s(K_1), s(K_2), ...) = s(K)    K has the keys of all parts

    Here s(K) is the output and the log-sum-exp over the keys K, without a sink. A part may have no
    key, and a query may be fully masked. The error bound covers the rounding of the parts and of
    each merge.
    """
    make_the_whole(merging, problem, parts.whole(problem))


@clause(
    "Q15",
    over=Problems(),
    catches={"measures_the_mean", "starts_the_sum_at_one", "takes_nats_for_bits"},
    proof=blocks.merging_blocks_gives_the_whole,
)
def attention_sink_is_counted_once_in_a_merge(merging: Merging, problem: Problem) -> None:
    """An attention sink belongs to exactly one part, no matter which; the other parts omit it.

        merge(s(K_1, sink), s(K_2), ...) = s(K, sink)    K has the keys of all parts

    Here s(K) is the output and the log-sum-exp over the keys K. A sink is a score t without a
    value, so its state is (0, t). If every part includes the sink, it is counted as often as there
    are parts. If a part without visible keys omits its sink, a fully masked query lacks it.
    """
    make_the_whole(merging, problem, parts.whole(problem, sinks=True))


@clause(
    "Q16",
    over=Problems(),
    catches={"averages_the_outputs", "forgets_the_maximum", "swaps_the_weights"},
)
def merging_equals_attention_to_two_keys(merging: Merging, problem: Problem) -> None:
    """Merging two states equals attention to two keys with scores lse_1 and lse_2 and values o_1
    and o_2.

        o, lse = attention of s = (lse_1, lse_2), v = (o_1, o_2)

    The softmax of these two scores gives a state the weight exp(lse_i - lse), and an empty state 0,
    as the definition of merging does. So merging needs no definition other than that of attention.
    """
    keys = parts.two_keys(problem)

    o, lse = merging.forward(problem)

    budget = of_state(problem)
    equal(o, attention.attention(keys).reshape(problem.o_1.shape), within=budget.o)
    equal(lse, attention.lse(keys).reshape(problem.lse_1.shape), within=budget.lse)


@clause(
    "Q17",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={
        "averages_over_the_width",
        "drops_the_output_from_the_difference",
        "swaps_the_weights_backward",
        "takes_the_weights_for_constants",
    },
)
def merge_gradients_equal_those_of_two_keys(merging: Merging, problem: Problem) -> None:
    """The gradients of a merge equal the gradients of attention to two keys, with respect to
    their scores s_i = lse_i and values v_i = o_i.

        dlse_i = ds_i + w_i dlse    do_i = dv_i

    Here ds and dv are the gradients of the loss <do, o> of that attention, and w_i are its weights.
    The derivative of the merged lse with respect to s_i is w_i.
    """
    d = attention.gradients(parts.two_keys(problem))
    assert d.bias is not None
    by_lse = d.bias.reshape(*problem.lse_1.shape, 2)
    by_o = d.v.reshape(*problem.lse_1.shape, 2, problem.E)
    weights = definition.weights(problem.in_reference())

    found, budget = merging.backward(problem), of_gradients(problem)

    equal(found.lse_1, by_lse[..., 0] + weights[0] * problem.dlse, within=budget.lse_1)
    equal(found.lse_2, by_lse[..., 1] + weights[1] * problem.dlse, within=budget.lse_2)
    equal(found.o_1, by_o[..., 0, :], within=budget.o_1)
    equal(found.o_2, by_o[..., 1, :], within=budget.o_2)
