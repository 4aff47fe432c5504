"""Section L, continued. Padding, masks and causality exclude keys from a layer.

The sequences of a batch are padded to one length, and a boolean padding mask marks the padding.
An attention mask says which query may attend to which key, for all heads or for each. A causal
layer masks later keys. A key that any of these masks has no effect, whatever its numbers are.
"""

import numpy as np

from spec.clause import clause
from spec.comparison import equal
from spec.layer import moves
from spec.layer.domain import LayerProblems
from spec.layer.notation import LayerProblem
from spec.layer.proofs import exactly
from spec.layer.record import Capability, Layer
from spec.layer.rounding import budgets

PADDED = LayerProblems(hiding=("padding",))
OF_HEADS = LayerProblems(hiding=("mask of heads", "bias of heads"), least=(2, 2, 1, 1))


@clause(
    "L23",
    over=PADDED,
    needs={Capability.APART},
    catches={
        "reads_padding_as_what_may_attend",
        "uses_the_padding_of_the_first_batch",
        "shows_the_first_padded_key",
    },
    proof=exactly.padded_keys_are_deleted_keys,
)
def padded_keys_act_as_if_removed(layer: Layer, problem: LayerProblem) -> None:
    """A sequence with padding gives the same output as the sequence without its padding.

        y(key, value; padding) = y(key', value')    where the padded keys are removed

    Padding is at the end here, so other tokens keep their positions. Sequences of a batch differ
    in length, so the check removes the padding from each one alone.
    """
    y = layer.forward(problem)

    for b in range(problem.B):
        alone = moves.of_batch(problem, b)
        assert alone.padding is not None
        cut = moves.of_keys(alone, np.flatnonzero(~alone.padding[0])).but(padding=None)
        within = budgets(problem).of_output[b : b + 1] + budgets(cut).of_output
        equal(layer.forward(cut), y[b : b + 1], within=within)


@clause(
    "L24",
    over=PADDED,
    needs={Capability.APART},
    catches={"reads_padding_as_what_may_attend", "hides_padding_with_minus_a_thousand"},
    proof=exactly.the_content_of_padding_does_not_matter,
    effort=2,
)
def the_content_of_padding_does_not_matter(layer: Layer, problem: LayerProblem) -> None:
    """A padding token may hold any finite numbers as key and value without changing the output.

        y(key, value) = y(key', value')    if they differ only at padded keys

    An embedding may put anything into padding tokens, and large scores outweigh a finite penalty.
    """
    assert problem.padding is not None
    hidden = problem.padding[..., None]
    cross = problem.but(arrays=3)
    loud = cross.but(
        key=np.where(hidden, 64.0, cross.key), value=np.where(hidden, -64.0, cross.value)
    )
    other = cross.but(
        key=np.where(hidden, -64.0, cross.key), value=np.where(hidden, 32.0, cross.value)
    )

    y, p = layer.forward(loud), layer.forward(other)

    for output in (y, p):
        equal(output, budgets(cross).y, within=budgets(cross).of_output)


@clause(
    "L25",
    over=LayerProblems(hiding=("padding", "mask and padding", "bias and padding")),
    needs={Capability.HEAD_MASK, Capability.MASK},
    catches={
        "uses_the_padding_of_the_first_batch",
        "drops_the_mask_beside_padding",
        "drops_the_padding_beside_a_mask",
        "forbids_only_what_both_masks_forbid",
    },
    proof=exactly.padding_is_a_mask,
)
def padding_and_mask_combine_into_one_mask(layer: Layer, problem: LayerProblem) -> None:
    """Padding and a mask together equal one combined mask for every head of every batch element.

        y(mask, padding) = y(mask or padding)    as one mask of shape (B H, N, M)

    True means masked out; an additive mask becomes -inf at padded keys. The bugs that this catches
    drop one of the two, or mask only those keys that both of them mask.
    """
    written = moves.one_mask(problem)

    y, p = layer.forward(problem), layer.forward(written)

    equal(p, y, within=budgets(problem).of_output + budgets(written).of_output)


@clause(
    "L26",
    over=LayerProblems(hiding=("mask", "bias"), least=(1, 2, 1, 1)),
    needs={Capability.HEAD_MASK},
    catches={"transposes_the_mask_of_a_square_layer"},
    proof=exactly.a_mask_holds_for_every_head,
)
def shared_mask_applies_to_every_head(layer: Layer, problem: LayerProblem) -> None:
    """A mask without a head axis applies to every head of every batch element.

        y(mask) = y(mask, repeated B H times)

    Its rows are queries and its columns are keys; a transposed square mask is caught here.
    """
    written = moves.one_mask(problem)

    y, p = layer.forward(problem), layer.forward(written)

    known = budgets(problem)
    equal(p, y, within=known.of_output + budgets(written).of_output)
    equal(y, known.y, within=known.of_output)


@clause(
    "L27",
    over=OF_HEADS,
    catches={"lays_the_mask_of_heads_head_first", "gives_all_heads_the_mask_of_the_first"},
    proof=exactly.masks_of_heads_come_batch_by_batch,
)
def per_head_masks_are_ordered_batch_then_head(layer: Layer, problem: LayerProblem) -> None:
    """In a mask for every head, the masks for the heads of one batch element are adjacent.

        y(mask)[b] = y of element b alone, with mask[b H : (b + 1) H]

    An implementation that puts heads before batch elements reads the mask of another sequence.
    """
    y = layer.forward(problem)

    known = budgets(problem)
    for b in range(problem.B):
        alone = moves.of_batch(problem, b)
        within = known.of_output[b : b + 1] + budgets(alone).of_output
        equal(layer.forward(alone), y[b : b + 1], within=within)
    equal(y, known.y, within=known.of_output)


@clause(
    "L29",
    over=LayerProblems(hiding=("causal", "causal and padding")),
    needs={Capability.MASK, Capability.FUTURE},
    catches={"drops_the_mask_beside_padding", "transposes_the_mask_of_a_square_layer"},
    proof=exactly.the_future_is_a_mask,
    effort=2,
)
def layer_causal_flag_equals_causal_mask(layer: Layer, problem: LayerProblem) -> None:
    """The causal flag gives the same output as a mask that excludes every key j > i.

        y(causal) = y(mask_ij = (j > i)),    and both are as defined

    In torch, the flag accompanies the mask as a hint. Code that uses the hint instead of the mask
    has to mask the same keys.
    """
    future = np.triu(np.ones((problem.N, problem.M), dtype=bool), 1)
    masked = problem.but(causal=False, mask=future)

    y, p = layer.forward(problem), layer.forward(masked)

    known = budgets(problem)
    equal(y, p, within=known.of_output + budgets(masked).of_output)
    equal(y, known.y, within=known.of_output)


@clause(
    "L49",
    over=LayerProblems(hiding=("none",), least=(1, 1, 1, 2)),
    needs={Capability.MASK, Capability.STILL},
    catches={
        "fills_hidden_scores_with_minus_a_billion",
        "gives_hidden_keys_of_float16_minus_30000",
        "takes_a_billion_from_hidden_scores",
    },
    proof=exactly.the_only_visible_key_has_all_the_weight,
)
def the_only_visible_key_has_all_the_weight(layer: Layer, problem: LayerProblem) -> None:
    """If a query has one unmasked key, that key has a weight of one, however low its score is.

        y_i = y_i(W_q = 0, b_q = 0)    if only key j is unmasked for query i, whatever s_ij is

    With W_q = 0 and b_q = 0 all scores are zero, so none is low. The clause catches a layer that
    fills in or adds a finite number instead of -inf: a visible score may be lower than that number.
    """
    low = moves.outscored(problem)
    flat = moves.asking_nothing(low)
    y = layer.forward(low)

    equal(y, budgets(flat).y, within=budgets(flat).of_output)


@clause(
    "L30",
    over=LayerProblems(hiding=("padding",), arrays=(3,)),
    needs={Capability.GRADIENTS},
    catches={"reads_padding_as_what_may_attend"},
    proof=exactly.padding_gets_no_gradient,
)
def padded_keys_receive_no_gradient(layer: Layer, problem: LayerProblem) -> None:
    """A padded key receives a gradient of exactly zero, and so does its value.

        dkey_j = 0,    dvalue_j = 0    where j is padding

    This is L24 differentiated. As a query, a padding token may still receive a gradient.
    """
    found = layer.backward(problem).inputs

    assert problem.padding is not None
    hidden = problem.padding[..., None]
    for gradient in (found["key"], found["value"]):
        equal(np.where(hidden, gradient, 0), np.zeros(gradient.shape), within=0)


@clause(
    "L33",
    over=LayerProblems(hiding=("none",), least=(1, 1, 1, 2), families=("lattice", "normal")),
    needs={Capability.APART},
    catches={"forgets_tokens_of_zeros"},
)
def all_zero_token_is_not_padding(layer: Layer, problem: LayerProblem) -> None:
    """A key whose entries are all zero takes part in attention like any other key.

        y is as defined, where key_j = 0 for some j and value_j is not

    Only a mask says what is padding. The entries of a token must not decide it.
    """
    j = problem.chance().below(problem.M)
    key = problem.key.copy()
    key[:, j] = 0
    silent = problem.but(key=key, arrays=3)

    y = layer.forward(silent)

    equal(y, budgets(silent).y, within=budgets(silent).of_output)
