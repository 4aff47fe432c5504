"""Section Q. Merging two partial attention results gives attention over all their keys.

The keys may be split into parts: they lie on several machines, many requests share a cached
prefix, or one core is not enough. Each part yields an output and a log-sum-exp (LSE), and
these are then merged (Milakov and Gimelshein 2018, section 3; Ye et al. 2025, section 2.2):

    lse = log(exp lse_1 + exp lse_2)    o = exp(lse_1 - lse) o_1 + exp(lse_2 - lse) o_2

The output alone is not enough, because the next merge needs the log-sum-exp. These clauses
compare both, and their gradients, with the definition.
"""

from spec.attention.options import Capability
from spec.clause import clause
from spec.comparison import equal
from spec.merging import proofs
from spec.merging.domain import Problems
from spec.merging.notation import Merging, Problem
from spec.merging.rounding import bounds, of_gradients, of_state


@clause(
    "Q1",
    over=Problems(),
    catches={
        "averages_the_outputs",
        "clamps_the_difference",
        "exponentiates_in_float16",
        "forgets_the_maximum",
        "reads_the_first_head_for_all",
        "reads_the_first_text_for_all",
        "reads_the_queries_before_the_heads",
        "skips_the_last_rows",
        "starts_the_sum_at_one",
        "subtracts_one_maximum_for_all",
        "swaps_the_weights",
        "takes_nats_for_bits",
    },
)
def merged_output_matches_the_definition(merging: Merging, problem: Problem) -> None:
    """The merged output weights the output of each part by its share of the sum of exponentials.

        o = w_1 o_1 + w_2 o_2,    w_i = exp(lse_i - lse),    lse = log(exp lse_1 + exp lse_2)

    Here o_i and lse_i are the results of part i; an empty part has the weight 0. The error bound
    allows weights that are computed from a rounded lse, as by exp(lse_i - lse): the relative error
    of each is u |lse|, with u the unit roundoff.
    """
    o, _ = merging.forward(problem)

    equal(o, bounds(problem).state.o, within=of_state(problem).o)


@clause(
    "Q2",
    over=Problems(),
    catches={
        "adds_the_log_sum_exps",
        "forgets_the_maximum_in_the_sum",
        "keeps_a_number_for_nothing",
        "measures_in_base_two",
        "overwrites_by_an_idle_split",
        "returns_infinity_for_nothing",
        "rounds_the_log_sum_exp_to_bfloat16",
        "takes_nats_for_bits",
    },
)
def merged_lse_covers_the_keys_of_both_parts(merging: Merging, problem: Problem) -> None:
    """The returned log-sum-exp is the log-sum-exp over the keys of both parts.

        lse = log(exp lse_1 + exp lse_2)

    Here lse_i is the log-sum-exp of part i, which is -inf if the part is empty. An error in the
    returned lse may leave this output correct, but it makes the output of the next merge wrong.
    """
    _, lse = merging.forward(problem)

    equal(lse, bounds(problem).state.lse, within=of_state(problem).lse)


@clause(
    "Q3",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={"hands_the_whole_cotangent_to_both", "swaps_the_weights_backward"},
    proof=proofs.the_gradients_are_the_derivatives,
)
def output_gradients_are_scaled_by_merge_weights(merging: Merging, problem: Problem) -> None:
    """The gradient with respect to the output of a part is the cotangent of the merged output times
    the weight of that part.

        do_i = w_i do    with w_i = exp(lse_i - lse), or 0 if part i is empty

    Here do is the cotangent of the merged output, and lse the merged log-sum-exp (Q1). The
    cotangent of lse does not contribute.
    """
    d, budget = merging.backward(problem), of_gradients(problem)

    equal(d.o_1, bounds(problem).gradients.o_1, within=budget.o_1)
    equal(d.o_2, bounds(problem).gradients.o_2, within=budget.o_2)


@clause(
    "Q4",
    over=Problems(),
    needs={Capability.GRADIENTS},
    catches={
        "adds_gradients_over_the_batch",
        "averages_over_the_width",
        "drops_the_cotangent_of_lse",
        "drops_the_output_from_the_difference",
        "hands_the_cotangent_of_lse_to_both",
        "takes_the_weights_for_constants",
    },
    proof=proofs.the_gradients_are_the_derivatives,
)
def lse_gradients_flow_through_merged_output_and_lse(merging: Merging, problem: Problem) -> None:
    """The gradient with respect to the log-sum-exp of a part flows through the weights of the
    output and through the merged log-sum-exp.

        dlse_i = w_i (<do, o_i - o> + dlse)    with w_i = exp(lse_i - lse), or 0 for an empty part

    Here do and dlse are the cotangents of the merged o and lse, and o_i and lse_i are the results
    of part i. If dlse_i is dropped, the gradients of the scores of one part ignore the other part.
    """
    d, budget = merging.backward(problem), of_gradients(problem)

    equal(d.lse_1, bounds(problem).gradients.lse_1, within=budget.lse_1)
    equal(d.lse_2, bounds(problem).gradients.lse_2, within=budget.lse_2)
