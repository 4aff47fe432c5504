"""The forward pass is right, but gradients or returned weights belong to another mask."""

from dataclasses import replace

import numpy as np

from spec.dropout.mistakes.making import wrong
from spec.dropout.mistakes.steps import Pass, draw, factor, rate, through_softmax, use
from spec.notation import Array


def _with(seen: Pass, kept: Array) -> Pass:
    """The same pass with another mask."""
    other = replace(seen, kept=kept)
    return replace(other, w=use(other))


@wrong("again", incident="BUG-23", where="gradients asked for and dropping")
def draws_again_backward(seen: Pass) -> Pass:
    """Draws a new mask in the backward pass instead of using that of the forward pass."""
    return _with(seen, draw(seen))


@wrong("again", incident="BUG-23", where="gradients asked for and dropping")
def forgets_the_mask_backward(seen: Pass) -> Pass:
    """Ignores the mask in the backward pass, but keeps the factor 1 / (1 - p)."""
    return _with(seen, np.ones_like(seen.kept))


@wrong(
    "again", incident="BUG-23", citation="NVIDIA/apex#816", where="gradients asked for and dropping"
)
def multiplies_by_the_rate_backward(seen: Pass) -> Pass:
    """Multiplies by p in the backward pass, where the forward pass divided by 1 - p."""
    number = seen.a.dtype.type
    ratio = number(seen.rate / factor(seen.rate)) if factor(seen.rate) else number(0)
    kept = seen.kept * (ratio if seen.rate else number(1))
    return replace(seen, kept=kept, w=seen.a * kept * number(factor(seen.rate)))


@wrong("through_mask", incident="BUG-23", where="gradients asked for and dropping and M > 1")
def drops_only_the_values_backward(_: Pass, G: Array) -> Array:
    """Applies mask and factor to the gradient of the values, but not to that of the weights."""
    return G


@wrong("row_term", incident="BUG-23", where="gradients asked for and dropping")
def takes_the_row_term_of_all_weights(seen: Pass, _: Array, G: Array) -> Array:
    """Leaves mask and factor out of the row term of the softmax gradient."""
    return (seen.a * G).sum(axis=-1, keepdims=True)


@wrong("through_softmax", incident="BUG-23", where="gradients asked for and dropping and M > 1")
def drops_score_gradients(seen: Pass, da: Array, mean: Array) -> Array:
    """Zeroes the score gradient of a dropped weight; it should be -a_ij times the row term."""
    return seen.kept * through_softmax(seen, da, mean)


@wrong("again", incident="BUG-22", where="gradients asked for and not training and no rate of zero")
def drops_in_evaluation_backward(seen: Pass) -> Pass:
    """Applies dropout in the backward pass in evaluation mode, too."""
    trained = replace(seen, training=True)
    trained = replace(trained, rate=rate(trained))
    return seen if seen.training else _with(trained, draw(trained))


@wrong("show", incident="BUG-37", force="should", where="the weights asked for and dropping")
def shows_the_weights_before_dropout(seen: Pass) -> Array:
    """Returns the weights before dropout, not those that produced the output."""
    return seen.a


@wrong("show", incident="BUG-37", force="should", where="the weights asked for and dropping")
def shows_another_draw(seen: Pass) -> Array:
    """Returns weights with a newly drawn mask, not those that produced the output."""
    return _with(seen, draw(seen)).w


@wrong("row_term", incident="plausible", harmless=True)
def takes_the_row_term_from_used_weights(seen: Pass, _: Array, G: Array) -> Array:
    """Computes the row term as sum_j w_ij G_ij, which equals sum_j a_ij da_ij."""
    return (seen.w * G).sum(axis=-1, keepdims=True)


@wrong("draw", incident="plausible", harmless=True)
def draws_in_single_precision(seen: Pass) -> Array:
    """Draws random numbers u in float32, and keeps a weight if p <= u."""
    return seen.rate <= seen.chance.random(seen.a.shape, dtype=np.float32)


@wrong("combine", incident="plausible", harmless=True)
def divides_the_output(seen: Pass) -> Array:
    """Combines the kept weights with the values first, and divides the sum by 1 - p."""
    return (seen.a * seen.kept) @ seen.v * seen.v.dtype.type(factor(seen.rate))


@wrong("use", incident="plausible", harmless=True)
def multiplies_by_a_mask_of_factors(seen: Pass) -> Array:
    """Multiplies by one array of factors: 0 for dropped, 1 / (1 - p) for kept."""
    factors = np.where(seen.kept, factor(seen.rate), 0.0).astype(seen.a.dtype)
    return seen.a * factors
