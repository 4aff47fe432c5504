"""Proofs about the layer, in the manner of `spec.attention.proofs`.

    any_number_of_keys  what the biases do: one query, and a symbolic sum over the keys
    formulas            a layer in symbols
    outputs             its output: what heads may do, for all numbers at small sizes
    gradients           its gradients: the closed form, and what heads say of it, likewise
    examples            a layer in integers, with masks of every kind
    hidden              laws of what is hidden, run on those; no tolerance

Clauses that say what a layer is (L1, L4, L6, L22), and clauses about its calls, its modes and
its memory, are no theorems: they hold by definition, or are broken by programs only.
Importing this costs nothing: SymPy is imported by the theorem that is run.
"""

from spec.layer.proofs.any_number_of_keys import (
    the_key_bias_does_nothing,
    the_key_bias_learns_nothing,
    the_value_bias_learns_through_the_output_weights,
    the_value_bias_passes_through,
    weights_sum_to_one,
)
from spec.layer.proofs.gradients import (
    a_token_learns_along_three_ways,
    query_and_key_weights_learn_alike,
    the_gradients_of_the_inputs_are_the_derivatives,
    the_gradients_of_the_parameters_are_the_derivatives,
    the_output_bias_learns_the_sum_of_the_cotangents,
    the_output_weights_account_for_the_loss,
    value_and_output_weights_learn_alike,
)
from spec.layer.proofs.hidden import (
    a_mask_holds_for_every_head,
    batch_elements_do_not_meet,
    idle_queries_have_no_weights,
    idle_queries_return_the_output_bias,
    masks_of_heads_come_batch_by_batch,
    padded_keys_are_deleted_keys,
    padding_gets_no_gradient,
    padding_is_a_mask,
    queries_do_not_meet,
    the_content_of_padding_does_not_matter,
    the_future_is_a_mask,
    truth_values_are_minus_infinity,
)
from spec.layer.proofs.outputs import (
    features_that_are_not_read_do_nothing,
    heads_do_not_meet,
    heads_move_with_their_blocks,
    queries_turn_against_keys,
    the_output_is_a_sum_over_heads,
    tokens_have_no_order,
    values_turn_against_the_output,
)

__all__ = [
    "a_mask_holds_for_every_head",
    "a_token_learns_along_three_ways",
    "batch_elements_do_not_meet",
    "features_that_are_not_read_do_nothing",
    "heads_do_not_meet",
    "heads_move_with_their_blocks",
    "idle_queries_have_no_weights",
    "idle_queries_return_the_output_bias",
    "masks_of_heads_come_batch_by_batch",
    "padded_keys_are_deleted_keys",
    "padding_gets_no_gradient",
    "padding_is_a_mask",
    "queries_do_not_meet",
    "queries_turn_against_keys",
    "query_and_key_weights_learn_alike",
    "the_content_of_padding_does_not_matter",
    "the_future_is_a_mask",
    "the_gradients_of_the_inputs_are_the_derivatives",
    "the_gradients_of_the_parameters_are_the_derivatives",
    "the_key_bias_does_nothing",
    "the_key_bias_learns_nothing",
    "the_output_bias_learns_the_sum_of_the_cotangents",
    "the_output_is_a_sum_over_heads",
    "the_output_weights_account_for_the_loss",
    "the_value_bias_learns_through_the_output_weights",
    "the_value_bias_passes_through",
    "tokens_have_no_order",
    "truth_values_are_minus_infinity",
    "value_and_output_weights_learn_alike",
    "values_turn_against_the_output",
    "weights_sum_to_one",
]
