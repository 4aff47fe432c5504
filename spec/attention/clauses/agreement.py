"""Section A. Results match the definition and agree with each other.

These clauses come first, and A1 is always run. Every result that an
implementation returns is compared element by element with what the definition
gives on the same problem. The error bound is the error that correct rounding can
make there, and no more (`spec.attention.rounding`). The domain draws all kinds of
problem: sizes at the edges of tiles, masks of every form, grouped heads, default
and given scales, scores from zero to a hundred thousand.

Many implementations have one path for inference and another for training, which
records what the gradients need. Both must give the output of the definition. A10
tests the output of the training path; all other clauses use that of the inference path.

Results that carry the same information must also agree with each other: the
weights times the values are the output, and exp(s - lse) are the weights.
"""

import numpy as np

from spec.attention import definition, rounding
from spec.attention.domain import EVERY, Problems
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.record import Implementation
from spec.clause import clause
from spec.comparison import at_least, at_most, equal


@clause(
    "A1",
    over=Problems(masks=EVERY, empty=True, few=True, single=4, mixed=True, exact="scores"),
    catches={
        "scales_by_model_width",
        "leaves_scores_unscaled",
        "ignores_the_mask",
        "averages_the_values",
        "exponentiates_in_base_two",
        "computes_in_float32",
        "rounds_inputs_to_tf32",
        "rounds_scores_to_bfloat16",
        "rounds_weights_to_float16",
        "returns_double_precision",
        "returns_zero",
        "attends_to_the_best_key_only",
        "rounds_scores_to_float16",
        "rounds_weights_to_bfloat16",
        "rounds_the_scale_to_bfloat16",
        "stores_partial_sums_in_bfloat16",
        "switches_beyond_eight_queries",
        "hides_the_future_unasked",
        "reads_as_many_keys_as_queries",
        "reads_values_from_shared_keys",
        "leaves_what_was_there_where_no_text_is",
        "takes_pages_to_lie_in_order",
        "reads_the_table_of_the_first_sequence",
        "reads_the_first_page_again",
        "takes_pages_of_values_to_lie_in_order",
        "takes_the_width_for_the_places",
        "fills_pages_from_the_end",
        "reads_nothing_of_a_sequence_of_one_page",
        "takes_a_full_page_for_an_empty_one",
        "reads_full_pages_alone",
        "reads_one_key_behind_the_last",
        "reads_pages_to_their_end",
        "multiplies_what_lies_behind_by_zero",
        "does_not_see_what_it_adds",
        "adds_one_place_behind",
        "adds_over_the_last_key",
        "takes_the_length_for_that_after",
        "adds_to_the_page_of_the_first_new_key",
        "adds_the_first_of_several_to_all_places",
        "keeps_its_keys_to_itself",
        "merges_by_numbers_of_keys",
        "drops_what_is_left_over",
        "gives_nan_for_a_mask_of_another_dtype",
    },
    effort=4,
)
def output_matches_definition(attention: Implementation, problem: Problem) -> None:
    """The output is the softmax-weighted sum of the values, as the definition gives it.

        o_i = sum_j a_ij v_j,    a_ij = exp(s_ij) / sum_j exp(s_ij)

    An attention sink t_h adds exp(t_h) to the denominator. A fully masked query returns zero. In a
    16-bit format under the strict rounding model, only the final result is rounded to 16 bits. The
    output must then be a number that this rounding can give. For most elements there is only one
    such number.
    """
    o = attention.forward(problem)

    low, high = rounding.admissible(problem)
    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
    at_least(o, low, within=0)
    at_most(o, high, within=0)


@clause(
    "A6",
    over=Problems(masks=EVERY, few=True, exact="scores"),
    needs={Capability.WEIGHTS},
    catches={
        "shows_weights_before_masking",
        "shows_weights_before_normalising",
        "shows_the_mean_over_heads",
        "shows_scores_for_weights",
        "shows_weights_transposed",
        "shows_nan_for_idle_queries",
        "shows_weights_without_the_window",
        "shows_weights_without_the_cap",
        "shows_weights_without_the_slopes",
    },
    effort=4,
)
def weights_match_definition(attention: Implementation, problem: Problem) -> None:
    """The returned weights are the softmax of the scores.

        a_ij = exp(s_ij) / sum_j exp(s_ij)

    An attention sink t_h adds exp(t_h) to the denominator. The weights of a fully masked query are
    zero. On a heat map, the scores, the weights before masking and the mean of the weights over
    heads look just as plausible. None of them is what the values were multiplied by.
    """
    a = attention.weights(problem)

    equal(a, rounding.reference(problem).weights, within=rounding.of_weights(problem))


@clause(
    "A7",
    over=Problems(masks=EVERY, few=True, single=2),
    needs={Capability.LSE},
    catches={
        "measures_lse_in_base_two",
        "measures_lse_of_unscaled_scores",
        "measures_lse_before_masking",
        "forgets_the_maximum_in_lse",
        "measures_lse_without_the_bias",
        "measures_the_log_of_the_mean",
        "measures_lse_without_the_window",
        "measures_lse_without_the_cap",
        "measures_lse_without_the_slopes",
        "measures_split_keys_in_the_order_of_groups",
    },
    effort=4,
)
def log_sum_exp_matches_definition(attention: Implementation, problem: Problem) -> None:
    """The log-sum-exp is the natural logarithm of the sum of the exponentials of the scores.

        lse_i = log sum_j exp(s_ij)

    An attention sink t_h adds exp(t_h) to the sum. Without a sink, a fully masked query has -inf.
    Kernels often work in powers of two and subtract the maximum, but the log-sum-exp that they
    return must show neither.
    """
    lse = attention.lse(problem)

    equal(lse, rounding.reference(problem).lse, within=rounding.of_lse(problem))


@clause(
    "A8",
    over=Problems(masks=EVERY, few=True),
    needs={Capability.WEIGHTS},
    catches={
        "shows_the_mean_over_heads",
        "shows_weights_before_masking",
        "shows_weights_before_normalising",
    },
)
def weights_times_values_equal_output(attention: Implementation, problem: Problem) -> None:
    """The returned weights, multiplied by the values, give the output.

        sum_j a_ij v_j = o_i

    Weights for display are often computed on a separate path. They have to reproduce the output
    of the main path.
    """
    a, o = attention.weights(problem), attention.forward(problem)

    v = definition.shared(problem.v, problem.H)
    within = rounding.of_output(problem) + rounding.of_weights(problem) @ np.abs(v)
    equal(o, a @ v, within=within)


@clause(
    "A9",
    over=Problems(masks=EVERY, few=True),
    needs={Capability.WEIGHTS, Capability.LSE},
    catches={"measures_lse_in_base_two", "shows_scores_for_weights"},
)
def log_sum_exp_normalises_the_weights(attention: Implementation, problem: Problem) -> None:
    """The exponential of the returned log-sum-exp is the denominator of the returned weights.

        a_ij = exp(s_ij) / exp(lse_i) = exp(s_ij - lse_i)    unless query i is fully masked

    The output alone does not reveal a wrong log-sum-exp. But a backward pass that recomputes the
    weights depends on it, and so does a merge of results for parts of the keys (X3).
    """
    a, lse = attention.weights(problem), attention.lse(problem)

    s = definition.scores(problem)
    rebuilt = np.exp(s - np.where(problem.idle, 0, lse)[..., None])
    error = rebuilt * np.expm1(rounding.of_lse(problem))[..., None]
    equal(a, rebuilt, within=rounding.of_weights(problem) + error)


@clause(
    "A10",
    over=Problems(masks=EVERY, few=True),
    needs={Capability.TRAINING},
    catches={"forgets_the_scale_in_training", "rounds_the_output_to_bfloat16_in_training"},
    effort=2,
)
def training_output_matches_definition(attention: Implementation, problem: Problem) -> None:
    """The output also matches the definition while autograd records the call.

        o_i = sum_j a_ij v_j    in training as in inference

    Inference often has a separate kernel. Correct gradients do not imply a correct loss: if the
    training path adds a constant to its output, all gradients are still right.
    """
    o = attention.training(problem)

    low, high = rounding.admissible(problem)
    equal(o, rounding.reference(problem).o, within=rounding.of_output(problem))
    at_least(o, low, within=0)
    at_most(o, high, within=0)
