"""The forward pass is right, and the gradients or the weights shown are of another mask."""

from dataclasses import replace

import numpy as np

from spec.dropout.mistakes.making import wrong
from spec.dropout.mistakes.steps import Pass, draw, factor, rate, through_softmax, use
from spec.notation import Array


def _with(seen: Pass, kept: Array) -> Pass:
    """The same pass with another mask."""
    other = replace(seen, kept=kept)
    return replace(other, w=use(other))


@wrong("again", incident="I23", where="gradients asked for and dropping")
def draws_again_backward(seen: Pass) -> Pass:
    """Makes the mask again from a generator that has moved on."""
    return _with(seen, draw(seen))


@wrong("again", incident="I23", where="gradients asked for and dropping")
def forgets_the_mask_backward(seen: Pass) -> Pass:
    """Scales the cotangent, and lets it through to every weight."""
    return _with(seen, np.ones_like(seen.kept))


@wrong(
    "again", incident="I23", citation="NVIDIA/apex#816", where="gradients asked for and dropping"
)
def multiplies_by_the_rate_backward(seen: Pass) -> Pass:
    """Multiplies by p on the way back, where the way forward divided by 1 - p."""
    number = seen.a.dtype.type
    ratio = number(seen.rate / factor(seen.rate)) if factor(seen.rate) else number(0)
    kept = seen.kept * (ratio if seen.rate else number(1))
    return replace(seen, kept=kept, w=seen.a * kept * number(factor(seen.rate)))


@wrong("through_mask", incident="I23", where="gradients asked for and dropping and M > 1")
def drops_only_the_values_backward(_: Pass, G: Array) -> Array:
    """Uses the mask for dv, and forgets that it lies before the softmax too."""
    return G


@wrong("row_term", incident="I23", where="gradients asked for and dropping")
def takes_the_row_term_of_all_weights(seen: Pass, _: Array, G: Array) -> Array:
    """Keeps the row term of attention without dropout."""
    return (seen.a * G).sum(axis=-1, keepdims=True)


@wrong("through_softmax", incident="I23", where="gradients asked for and dropping and M > 1")
def drops_score_gradients(seen: Pass, da: Array, mean: Array) -> Array:
    """Passes nothing back to the score of a dropped weight."""
    return seen.kept * through_softmax(seen, da, mean)


@wrong("again", incident="I22", where="gradients asked for and not training and no rate of zero")
def drops_in_evaluation_backward(seen: Pass) -> Pass:
    """Asks for the mode on the way forward only."""
    trained = replace(seen, training=True)
    trained = replace(trained, rate=rate(trained))
    return seen if seen.training else _with(trained, draw(trained))


@wrong("show", incident="I37", force="should", where="the weights asked for and dropping")
def shows_the_weights_before_dropout(seen: Pass) -> Array:
    """Returns the softmax, which is not what the output was made of."""
    return seen.a


@wrong("show", incident="I37", force="should", where="the weights asked for and dropping")
def shows_another_draw(seen: Pass) -> Array:
    """Drops once more for the weights that are returned."""
    return _with(seen, draw(seen)).w


@wrong("row_term", incident="plausible", harmless=True)
def takes_the_row_term_from_used_weights(seen: Pass, _: Array, G: Array) -> Array:
    """Sums w G for a da: the mask and the factor are in the one or in the other."""
    return (seen.w * G).sum(axis=-1, keepdims=True)


@wrong("draw", incident="plausible", harmless=True)
def draws_in_single_precision(seen: Pass) -> Array:
    """Draws float32 numbers, and compares from the other side."""
    return seen.rate <= seen.chance.random(seen.a.shape, dtype=np.float32)


@wrong("combine", incident="plausible", harmless=True)
def divides_the_output(seen: Pass) -> Array:
    """Adds up what was kept, and divides the sum by 1 - p."""
    return (seen.a * seen.kept) @ seen.v * seen.v.dtype.type(factor(seen.rate))


@wrong("use", incident="plausible", harmless=True)
def multiplies_by_a_mask_of_factors(seen: Pass) -> Array:
    """Makes an array of 0 and 1 / (1 - p) first."""
    factors = np.where(seen.kept, factor(seen.rate), 0.0).astype(seen.a.dtype)
    return seen.a * factors
