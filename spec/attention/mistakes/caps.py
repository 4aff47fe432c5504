"""Known bugs of soft-caps: ignored, of the wrong size, in the wrong order, or not differentiated.

One code path ignores the soft-cap, or uses a built-in value. Others apply it to a bias or to -inf,
which it must not change. A backward pass written by hand leaves out the derivative of tanh.
"""

from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import forbid, log_sum, softmax_with_sink, with_sink
from spec.attention.mistakes.gradients import MASKS, SEVERAL
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import Capped, Pass, cap, slant
from spec.notation import Array

FIFTY = 50.0
CAPPED = "a soft-cap and several scores"
SLOPED = f"gradients asked for and a soft-cap and {SEVERAL}"


def capped(t: Array, c: float | None) -> Array:
    """c tanh(t / c), or t if c is None."""
    return t if c is None else c * np.tanh(t / c)


@wrong("cap", incident="BUG-12", citation="sgl-project/sgl-kernel-xpu#491", where=CAPPED)
def ignores_the_cap(t: Array, allowed: Array, _: Array, __: Any) -> Capped:
    """Accepts the soft-cap, but does not apply it."""
    return t, allowed


@wrong("cap", incident="BUG-12", where="a soft-cap and a mask and several scores")
def forgets_the_cap_beside_a_mask(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Does not apply the soft-cap if a mask is given, for which it has a separate kernel."""
    return (t, allowed) if given.attn_mask is not None else cap(t, allowed, bias, given)


@wrong("cap", incident="BUG-12", where="a soft-cap and causal and several scores")
def forgets_the_cap_beside_causality(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Does not apply the soft-cap in causal calls, which take a separate code path."""
    return (t, allowed) if given.is_causal else cap(t, allowed, bias, given)


@wrong("cap", incident="BUG-12", where="a soft-cap and a window and several scores")
def forgets_the_cap_beside_a_window(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Does not apply the soft-cap in calls with a window, which take a separate code path."""
    local = given.window_size != (None, None)
    return (t, allowed) if local else cap(t, allowed, bias, given)


@wrong(
    "cap",
    incident="BUG-12",
    citation="marin-community/levanter#1057",
    where="not a soft-cap and several scores",
)
def caps_unasked(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Applies a soft-cap of 50 by default, if the caller gives none."""
    return capped(t, given.softcap or FIFTY), allowed


@wrong("cap", incident="BUG-12", where=CAPPED)
def has_a_cap_of_fifty(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Applies a soft-cap of 50, whatever value is given: it uses the value only as a switch."""
    return capped(t, None if given.softcap is None else FIFTY), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def forgets_to_multiply_by_the_cap(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Computes tanh(t / c) without the factor c, so every score is bounded by 1."""
    return (t if given.softcap is None else np.tanh(t / given.softcap)), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def forgets_to_divide_by_the_cap(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Computes c tanh(t) instead of c tanh(t / c), which is right only for small t or c = 1."""
    return (t if given.softcap is None else given.softcap * np.tanh(t)), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def caps_at_half(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Applies a soft-cap of c / 2: it treats c as the width of the range from -c / 2 to c / 2."""
    return capped(t, None if given.softcap is None else given.softcap / 2), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def clips_scores(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Clips scores at -c and c instead of bending them smoothly with c tanh(t / c)."""
    c = given.softcap
    return (t if c is None else np.clip(t, -c, c)), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def caps_from_above_alone(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Applies the soft-cap only to positive scores, so negative scores are not bounded."""
    return np.where(t > 0, capped(t, given.softcap), t), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def caps_magnitudes(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Loses the sign of the scores: it computes c tanh(|t| / c) instead of c tanh(t / c)."""
    return (t if given.softcap is None else capped(np.abs(t), given.softcap)), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def approximates_tanh_by_a_fraction(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Approximates tanh(x) by x (27 + x^2) / (27 + 9 x^2), with x clipped at -3 and 3."""
    c = given.softcap
    if c is None:
        return t, allowed
    x = np.clip(t / c, -3, 3)
    return c * x * (27 + x * x) / (27 + 9 * x * x), allowed


@wrong("cap", incident="plausible", convention=("tanh", "sigmoid"), where=CAPPED)
def takes_the_tangent_of_exponentials(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Computes tanh(x) as 1 - 2 / (exp(2 x) + 1), which loses precision near zero."""
    c = given.softcap
    if c is None:
        return t, allowed
    one = given.query.dtype.type(1)
    e = np.exp(np.minimum(2 * t / c, 80.0)).astype(given.query.dtype)
    return c * (one - 2 / (e + one)), allowed


@wrong("cap", incident="plausible", convention=("tanh", "approximate"), where=CAPPED)
def takes_a_rough_tangent(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Rounds tanh to 11 significant bits, about the precision of a fast hardware instruction."""
    c = given.softcap
    if c is None:
        return t, allowed
    mantissa, exponent = np.frexp(np.tanh(t / c))
    return c * np.ldexp(np.rint(mantissa * 2**11) / 2**11, exponent), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def caps_by_a_softsign(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Computes c t / (c + |t|) instead of c tanh(t / c); both are bounded by c."""
    c = given.softcap
    return (t if c is None else c * t / (c + np.abs(t))), allowed


@wrong("cap", incident="plausible", where=CAPPED)
def rounds_tanh_to_bfloat16(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Rounds tanh to 8 significant bits, the precision of bfloat16."""
    c = given.softcap
    if c is None:
        return t, allowed
    mantissa, exponent = np.frexp(np.tanh(t / c))
    return c * np.ldexp(np.rint(mantissa * 256) / 256, exponent), allowed


@wrong("cap", incident="BUG-12", where=CAPPED)
def caps_before_it_scales(t: Array, allowed: Array, _: Array, given: Any) -> Capped:
    """Applies the soft-cap to the product of query and key before the scale, not after it."""
    c = given.softcap
    sigma = given.scale if given.scale is not None else given.query.shape[-1] ** -0.5
    return (t if c is None or not sigma else sigma * capped(t / sigma, c)), allowed


@wrong(
    "cap",
    incident="BUG-12",
    convention=("softcap", "after-bias"),
    where="a soft-cap and biases of any kind and several scores",
)
def caps_the_bias_too(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Adds the bias and the ALiBi slopes before the soft-cap instead of after it."""
    added = slant(bias.astype(np.float64), 1.0, given)
    return capped(t + added, given.softcap) - added, allowed


@wrong("cap", incident="BUG-12", where="a soft-cap and a masked key")
def caps_after_masking(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """Masks before the soft-cap, which turns -inf into -c, so masked keys keep some weight."""
    c = given.softcap
    if c is None:
        return t, allowed
    return np.where(allowed, capped(t, c), -c - bias), np.ones_like(allowed)


@wrong(
    "cap",
    spoils="gradient",
    incident="BUG-12",
    where="gradients asked for and a soft-cap and several scores",
)
def differentiates_without_the_cap(t: Array, allowed: Array, _: Array, __: Any) -> Capped:
    """Recomputes the weights in the backward pass from scores without the soft-cap."""
    return t, allowed


@wrong("uncap", incident="BUG-21", where=SLOPED)
def forgets_the_slope_of_the_cap(ds: Array, _: Pass) -> Array:
    """Leaves the derivative of the soft-cap, 1 - tanh(t / c)^2, out of the backward pass."""
    return ds


@wrong("uncap", incident="BUG-21", where=SLOPED)
def takes_the_slope_of_a_line(ds: Array, seen: Pass) -> Array:
    """Uses the score before the soft-cap in its derivative 1 - (s / c)^2, not the one after it."""
    return ds if seen.softcap is None else ds * (1 - (seen.t / seen.softcap) ** 2)


@wrong("uncap", incident="BUG-21", where=SLOPED)
def squares_the_slope_of_the_cap(ds: Array, seen: Pass) -> Array:
    """Multiplies the gradient by the derivative of the soft-cap twice instead of once."""
    return ds if seen.softcap is None else ds * (1 - np.tanh(seen.t / seen.softcap) ** 2) ** 2


@wrong("uncap", incident="BUG-21", where=SLOPED)
def takes_tanh_for_its_slope(ds: Array, seen: Pass) -> Array:
    """Computes the derivative of the soft-cap as 1 - tanh(t / c), without the square."""
    return ds if seen.softcap is None else ds * (1 - np.tanh(seen.t / seen.softcap))


@wrong("unbias", incident="BUG-21", where=f"{MASKS} and a soft-cap")
def damps_the_gradient_of_the_bias(ds: Array, seen: Pass) -> Array:
    """Multiplies the bias gradient by the soft-cap's derivative, though the bias is added later."""
    return ds if seen.softcap is None else ds * (1 - np.tanh(seen.t / seen.softcap) ** 2)


def uncapped(seen: Pass) -> Array:
    """The scores with everything that is added to them, but without the soft-cap."""
    return seen.s + (seen.t - capped(seen.t, seen.softcap))


@wrong("measure", incident="BUG-12", where="the log-sum-exp asked for and a soft-cap")
def measures_lse_without_the_cap(seen: Pass) -> Array:
    """Returns the log-sum-exp of scores without the soft-cap, although the output is right."""
    return with_sink(log_sum(forbid(uncapped(seen), seen.allowed)), seen)


@wrong("show", incident="BUG-12", where="the weights asked for and a soft-cap and several scores")
def shows_weights_without_the_cap(seen: Pass) -> Array:
    """Returns weights that it recomputes without the soft-cap, although the output is right."""
    return softmax_with_sink(forbid(uncapped(seen), seen.allowed), seen)
