"""A cap of the scores: what it bounds, by how much, before or after what, and on the way back.

A cap is accepted and dropped on one path, or has a value that was built in; it is put on what was
to stay beyond it, a bias or -inf; and its slope is forgotten where the gradient is written by hand.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import forbid, log_sum, softmax_with_sink, with_sink
from spec.attention.mistakes.gradients import MASKS, SEVERAL
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Capped, Pass, cap, slant
from spec.notation import Array

FIFTY = 50.0
SLOPED = f"gradients asked for and a cap and {SEVERAL}"


def capped(t: Array, c: float | None) -> Array:
    """c tanh(t / c)."""
    return t if c is None else c * np.tanh(t / c)


@wrong(
    "cap",
    incident="I12",
    citation="sgl-project/sgl-kernel-xpu#491",
    where="a cap and several scores",
)
def ignores_the_cap(t: Array, allowed: Array, _: Array, __: Any) -> Capped:
    """Stores the cap, and hands it on to nobody."""
    return t, allowed


@wrong("cap", incident="I12", where="a cap and a mask and several scores")
def forgets_the_cap_beside_a_mask(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Has a kernel for masks, which was written before there were caps."""
    return (t, allowed) if given.attn_mask is not None else cap(t, allowed, bias, given)


@wrong("cap", incident="I12", where="a cap and causal and several scores")
def forgets_the_cap_beside_causality(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Has a causal path of its own, which knows no cap."""
    return (t, allowed) if given.is_causal else cap(t, allowed, bias, given)


@wrong("cap", incident="I12", where="a cap and a window and several scores")
def forgets_the_cap_beside_a_window(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Has a path for windows, and models that have both alternate between the two."""
    local = given.window_size != (None, None)
    return (t, allowed) if local else cap(t, allowed, bias, given)


@wrong(
    "cap",
    incident="I12",
    citation="marin-community/levanter#1057",
    where="not a cap and several scores",
)
def caps_unasked(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Has the cap of one family of models by default."""
    return capped(t, given.softcap or FIFTY), allowed


@wrong("cap", incident="I12", where="a cap and several scores")
def has_a_cap_of_fifty(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Knows one cap, that of the model it was written for, and takes the number for a switch."""
    return capped(t, None if given.softcap is None else FIFTY), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def forgets_to_multiply_by_the_cap(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """tanh(t / c): every score is bounded by one."""
    return (t if given.softcap is None else np.tanh(t / given.softcap)), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def forgets_to_divide_by_the_cap(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """c tanh(t): right where scores are small, or c is one."""
    return (t if given.softcap is None else given.softcap * np.tanh(t)), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def caps_at_half(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Takes the cap for the width of the band from -c / 2 to c / 2."""
    return capped(t, None if given.softcap is None else given.softcap / 2), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def clips_scores(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Cuts scores off at the cap, and does not bend them on the way there."""
    c = given.softcap
    return (t if c is None else np.clip(t, -c, c)), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def caps_from_above_alone(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Bounds what would overflow, and not what would vanish."""
    return np.where(t > 0, capped(t, given.softcap), t), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def caps_magnitudes(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Bounds how large a score is, and forgets its sign."""
    return (t if given.softcap is None else capped(np.abs(t), given.softcap)), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def approximates_tanh_by_a_fraction(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """x (27 + x^2) / (27 + 9 x^2), bounded by one: a fraction that is near enough for sounds."""
    c = given.softcap
    if c is None:
        return t, allowed
    x = np.clip(t / c, -3, 3)
    return c * x * (27 + x * x) / (27 + 9 * x * x), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def takes_the_tangent_of_exponentials(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """1 - 2 / (exp(2 t / c) + 1), as who has a sigmoid does: near zero nothing is left of it."""
    c = given.softcap
    if c is None:
        return t, allowed
    one = given.query.dtype.type(1)
    e = np.exp(np.minimum(2 * t / c, 80.0)).astype(given.query.dtype)
    return c * (one - 2 / (e + one)), allowed


@wrong(
    "cap",
    incident="plausible",
    convention=("tanh", "approximate"),
    where="a cap and several scores",
)
def takes_a_rough_tangent(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Takes the tangent of a fast instruction, of which ten bits are right."""
    c = given.softcap
    if c is None:
        return t, allowed
    mantissa, exponent = np.frexp(np.tanh(t / c))
    return c * np.ldexp(np.rint(mantissa * 2**11) / 2**11, exponent), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def caps_by_a_softsign(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """c t / (c + |t|): bounded by c and of slope 1 at zero, as tanh is."""
    c = given.softcap
    return (t if c is None else c * t / (c + np.abs(t))), allowed


@wrong("cap", incident="plausible", where="a cap and several scores")
def rounds_tanh_to_bfloat16(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Keeps eight bits of the tangent, as a fast instruction does."""
    c = given.softcap
    if c is None:
        return t, allowed
    mantissa, exponent = np.frexp(np.tanh(t / c))
    return c * np.ldexp(np.rint(mantissa * 256) / 256, exponent), allowed


@wrong("cap", incident="I12", where="a cap and several scores")
def caps_before_it_scales(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Caps the product of query and key, and scales what is left."""
    c = given.softcap
    sigma = given.scale if given.scale is not None else given.query.shape[-1] ** -0.5
    return (t if c is None or not sigma else sigma * capped(t / sigma, c)), allowed


@wrong(
    "cap",
    incident="I12",
    convention=("cap", "after-bias"),
    where="a cap and biases of either kind and several scores",
)
def caps_the_bias_too(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Adds the bias first, that of slopes as well, and caps the sum."""
    added = slant(bias.astype(np.float64), 1.0, given)
    return capped(t + added, given.softcap) - added, allowed


@wrong("cap", incident="I12", where="a cap and a hidden key")
def caps_after_masking(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Hides keys by -inf first, of which the cap makes -c: a hidden key is seen a little."""
    c = given.softcap
    if c is None:
        return t, allowed
    return np.where(allowed, capped(t, c), -c - bias), np.ones_like(allowed)


@wrong(
    "cap",
    spoils="gradient",
    incident="I12",
    where="gradients asked for and a cap and several scores",
)
def differentiates_without_the_cap(t: Array, allowed: Array, _: Array, __: Any) -> Capped:
    """Computes the weights again in the backward pass, and there of scores that are not capped."""
    return t, allowed


@wrong("uncap", incident="I21", where=SLOPED)
def forgets_the_slope_of_the_cap(ds: Array, _: Pass) -> Array:
    """Hands the gradient of a capped score on as that of the product."""
    return ds


@wrong("uncap", incident="I21", where=SLOPED)
def takes_the_slope_of_a_line(ds: Array, seen: Pass) -> Array:
    """1 - (t / c)^2, with the product in place of the capped score."""
    return ds if seen.softcap is None else ds * (1 - (seen.t / seen.softcap) ** 2)


@wrong("uncap", incident="I21", where=SLOPED)
def squares_the_slope_of_the_cap(ds: Array, seen: Pass) -> Array:
    """Multiplies by the slope where the gradient enters the cap, and where it leaves it."""
    return ds if seen.softcap is None else ds * (1 - np.tanh(seen.t / seen.softcap) ** 2) ** 2


@wrong("uncap", incident="I21", where=SLOPED)
def takes_tanh_for_its_slope(ds: Array, seen: Pass) -> Array:
    """Forgets the square: 1 - tanh(t / c)."""
    return ds if seen.softcap is None else ds * (1 - np.tanh(seen.t / seen.softcap))


@wrong("unbias", incident="I21", where=f"{MASKS} and a cap")
def damps_the_gradient_of_the_bias(ds: Array, seen: Pass) -> Array:
    """Hands the gradient of the product out as that of the bias, which never met the cap."""
    return ds if seen.softcap is None else ds * (1 - np.tanh(seen.t / seen.softcap) ** 2)


def uncapped(seen: Pass) -> Array:
    """The scores with all that is added to them, and no cap."""
    return seen.s + (seen.t - capped(seen.t, seen.softcap))


@wrong("measure", incident="I12", where="the log-sum-exp asked for and a cap")
def measures_lse_without_the_cap(seen: Pass) -> Array:
    """Returns the log-sum-exp of scores as they are before the cap."""
    return with_sink(log_sum(forbid(uncapped(seen), seen.allowed)), seen)


@wrong("show", incident="I12", where="the weights asked for and a cap and several scores")
def shows_weights_without_the_cap(seen: Pass) -> Array:
    """Computes the weights a second time for display, and there without the cap."""
    return softmax_with_sink(forbid(uncapped(seen), seen.allowed), seen)
