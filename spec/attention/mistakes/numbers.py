"""Known bugs of precision: correct formulas that are computed with too few digits.

Tolerances that are chosen instead of derived often accept them. Inputs and outputs are float32,
unless a known bug names other dtypes; only a step in between has fewer digits.
"""

import math
from typing import Any

import numpy as np

from spec.attention.mistakes import backward_steps, steps
from spec.attention.mistakes.exponentials import forbid, top
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.softmax import normalised
from spec.attention.mistakes.steps import Pass, scores, weigh
from spec.notation import Array
from spec.sizes import Sizes

BFLOAT16, TF32 = 8, 11  # significant bits


def shortened(x: Array, bits: int) -> Array:
    """x rounded to `bits` significant bits."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.rint(np.ldexp(mantissa, bits)), exponent - bits).astype(x.dtype)


def halved(x: Array) -> Array:
    """x rounded to float16, where large numbers overflow."""
    return x.astype(np.float16).astype(x.dtype)


@wrong(
    "read",
    incident="plausible",
    spoils="rounding",
    where="several scores and entries of more than 11 bits",
    convention=("products", "tf32"),
)
def rounds_inputs_to_tf32(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Rounds queries and keys to TF32 (11 significant bits) before their product."""
    q, k, v = steps.read(query, key, value)
    return shortened(q, TF32), shortened(k, TF32), v


@wrong("read", incident="plausible", spoils="rounding", where="several scores")
def rounds_keys_down(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Quantises keys to multiples of 1/8 and rounds them down instead of to the nearest."""
    q, k, v = steps.read(query, key, value)
    return q, np.floor(k * 8) / 8, v


@wrong("scores", incident="plausible", spoils="rounding", where="several scores")
def rounds_scores_to_bfloat16(q: Array, k: Array, sigma: float) -> Array:
    """Stores the scores in bfloat16, with 8 significant bits."""
    return shortened(scores(q, k, sigma), BFLOAT16)


@wrong(
    "scores", incident="plausible", spoils="rounding", where="several scores or scores beyond 30000"
)
def rounds_scores_to_float16(q: Array, k: Array, sigma: float) -> Array:
    """Stores the scores in float16, with 11 significant bits and infinity beyond 65504."""
    return halved(scores(q, k, sigma))


@wrong("weigh", incident="plausible", spoils="rounding", where="M > 1")
def rounds_weights_to_bfloat16(s: Array, allowed: Array) -> Array:
    """Rounds the weights to bfloat16 (8 significant bits) for the product with the values."""
    return shortened(weigh(s, allowed), BFLOAT16)


@wrong("weigh", incident="plausible", spoils="rounding", where="M > 1")
def rounds_weights_to_float16(s: Array, allowed: Array) -> Array:
    """Rounds the weights to float16 for the product with the values; tiny weights become 0."""
    return halved(weigh(s, allowed))


@wrong("weigh", incident="plausible", spoils="rounding", where="M > 1")
def exponentiates_in_float16(s: Array, allowed: Array) -> Array:
    """Computes exp(s - max) in float16 before it normalises the weights."""
    hidden = forbid(s, allowed)
    return normalised(np.exp((hidden - top(hidden)).astype(np.float16)).astype(s.dtype))


@wrong("weigh", incident="plausible", spoils="rounding", where="M > 1")
def exponentiates_by_a_cubic(s: Array, allowed: Array) -> Array:
    """Approximates 2^x on [0, 1) by a polynomial of degree 3, which is accurate to only 1e-4."""
    hidden = forbid(s, allowed)
    x = np.maximum((hidden - top(hidden)) * np.float32(np.log2(math.e)), -200)
    whole = np.floor(x)
    cubic = np.polyval(np.array([0.07802, 0.2257, 0.6962, 0.99993], dtype=s.dtype), x - whole)
    return normalised(np.where(allowed, np.ldexp(cubic, whole.astype(int)), 0))


@wrong("scale", incident="BUG-14", spoils="rounding", where="several scores and an inexact scale")
def rounds_the_scale_to_bfloat16(sizes: Sizes, asked: float | None) -> float:
    """Rounds the scale to bfloat16 (8 significant bits) before it multiplies the products."""
    return float(shortened(np.asarray(steps.scale(sizes, asked)), BFLOAT16))


@wrong("add", incident="plausible", spoils="rounding", where="finite biases and several scores")
def rounds_the_bias_to_bfloat16(s: Array, bias: Array, _: float) -> Array:
    """Rounds an additive mask to bfloat16 before it is added to the scores."""
    return s + shortened(bias, BFLOAT16)


@wrong("combine", incident="plausible", spoils="rounding", where="M > 1")
def stores_partial_sums_in_bfloat16(a: Array, v: Array, allowed: Array) -> Array:
    """Rounds the sum over the first half of the keys to bfloat16 before it adds the rest."""
    half = a.shape[-1] // 2
    first = steps.combine(a[..., :half], v[..., :half, :], allowed[..., :half])
    rest = steps.combine(a[..., half:], v[..., half:, :], allowed[..., half:])
    return shortened(first, BFLOAT16) + rest


@wrong(
    "finish",
    incident="plausible",
    spoils="rounding",
    dtypes=("float16",),
    where="float16 and M > 1",
)
def truncates_the_output(o: Array, dtype: np.dtype[Any]) -> Array:
    """Truncates the output to float16 towards zero instead of rounding it to the nearest."""
    nearest = o.astype(dtype)
    towards_zero = np.nextafter(nearest, np.zeros_like(nearest))
    return np.where(np.abs(nearest) > np.abs(o), towards_zero, nearest)


@wrong("read", incident="plausible", spoils="rounding", dtypes=("float64",), where="float64")
def computes_in_float32(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Accepts float64 inputs and returns float64, but computes in float32."""
    return query.astype(np.float32), key.astype(np.float32), value.astype(np.float32)


@wrong("finish", incident="plausible", spoils="rounding", force="should", where="tiny values")
def flushes_subnormal_results(o: Array, dtype: np.dtype[Any]) -> Array:
    """Flushes subnormal results to zero, as hardware does in some fast modes."""
    tiny = np.finfo(dtype).tiny
    return np.where(np.abs(o) < tiny, 0, o).astype(dtype)


@wrong("row_term", incident="plausible", where="gradients asked for")
def rounds_the_row_term_to_bfloat16(seen: Pass, da: Array, dout: Array) -> Array:
    """Stores sum_j a_ij da_ij in bfloat16 between two kernels of the backward pass."""
    return shortened(backward_steps.row_term(seen, da, dout), BFLOAT16)


@wrong("score_gradients", incident="plausible", where="gradients asked for and several scores")
def rounds_score_gradients_to_float16(a: Array, da: Array, row_term: Array) -> Array:
    """Rounds the gradients of the scores to float16, where small gradients become 0."""
    return halved(backward_steps.score_gradients(a, da, row_term))


@wrong("combine", incident="plausible", where="values that add up beyond 65504")
def adds_values_within_65504(a: Array, v: Array, allowed: Array) -> Array:
    """Sums the values, weighted by exp(s - max), in the range of float16: infinite beyond 65504."""
    total = a @ v / np.where(a == 0, 1, a).max(axis=-1, keepdims=True)
    return np.where(np.abs(total) > 65504, np.copysign(np.inf, total), steps.combine(a, v, allowed))


@wrong(
    "slant",
    incident="plausible",
    citation="jax-ml/jax#32242",
    dtypes=("float16",),
    where="an additive mask in float32 with arrays of 16 bits",
)
def gives_nan_for_a_mask_of_another_dtype(s: Array, sigma: float, given: Any) -> Array:
    """Returns NaN if an additive mask has another dtype than the queries."""
    mask = given.attn_mask
    other = mask is not None and mask.dtype not in (bool, given.query.dtype)
    return steps.slant(s, sigma, given) * (np.nan if other else 1)
