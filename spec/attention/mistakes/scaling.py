"""Known bugs of the scale: 1 / sqrt(D) unless the call gives another one, before the bias is added.

A wrong scale changes every weight a little, but no shape. Trained models adapt to it, and the
largest weight stays the largest. With one head, or if D is a power of two, some of these bugs
give the right scale.
"""

import numpy as np

from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import default_scale, scores
from spec.notation import Array
from spec.sizes import Sizes


@wrong(
    "scale",
    incident="BUG-14",
    citation="lucidrains/vit-pytorch#65",
    where="no scale and H > 1 and several scores",
)
def scales_by_model_width(sizes: Sizes, asked: float | None) -> float:
    """Divides scores by sqrt(H D), the width of all heads together, instead of sqrt(D)."""
    return 1 / np.sqrt(max(sizes.H * sizes.D, 1)) if asked is None else asked


@wrong("scale", incident="BUG-14", where="no scale and D != E and several scores")
def scales_by_value_width(sizes: Sizes, asked: float | None) -> float:
    """Divides scores by sqrt(E), E the head size of the values, instead of sqrt(D)."""
    return 1 / np.sqrt(max(sizes.E, 1)) if asked is None else asked


@wrong(
    "scale",
    incident="BUG-14",
    citation="tenstorrent/tt-metal#56789",
    where="no scale and D != H and several scores",
)
def scales_by_heads(sizes: Sizes, asked: float | None) -> float:
    """Divides scores by sqrt(H), the root of the number of heads, instead of sqrt(D)."""
    return 1 / np.sqrt(max(sizes.H, 1)) if asked is None else asked


@wrong("scale", incident="BUG-14", where="no scale and D != M and several scores")
def scales_by_key_count(sizes: Sizes, asked: float | None) -> float:
    """Divides scores by sqrt(M), the root of the number of keys, instead of sqrt(D)."""
    return 1 / np.sqrt(max(sizes.M, 1)) if asked is None else asked


@wrong(
    "scale",
    incident="BUG-14",
    citation="intel/ipex-llm#12619",
    where="no scale and D is no power of 2 and several scores",
)
def scales_by_padded_width(sizes: Sizes, asked: float | None) -> float:
    """Divides scores by the square root of D padded to a power of two, instead of sqrt(D)."""
    padded = 2 ** int(np.ceil(np.log2(max(sizes.D, 1))))
    return 1 / np.sqrt(padded) if asked is None else asked


@wrong("scale", incident="BUG-14", where="no scale and several scores")
def scales_by_width_plus_one(sizes: Sizes, asked: float | None) -> float:
    """Divides scores by sqrt(D + 1) instead of sqrt(D)."""
    return 1 / np.sqrt(sizes.D + 1) if asked is None else asked


@wrong("scale", incident="BUG-14", where="no scale and D > 1 and several scores")
def divides_by_width(sizes: Sizes, asked: float | None) -> float:
    """Divides scores by D instead of its square root."""
    return 1 / max(sizes.D, 1) if asked is None else asked


@wrong("scale", incident="BUG-14", where="no scale and D > 1 and several scores")
def leaves_scores_unscaled(_: Sizes, asked: float | None) -> float:
    """Uses a default scale of 1 instead of 1 / sqrt(D), and leaves scaling to the caller."""
    return 1.0 if asked is None else asked


@wrong("scale", incident="BUG-14", where="several scores and a scale other than 1")
def scales_twice(sizes: Sizes, asked: float | None) -> float:
    """Applies the scale twice: first to the queries, then to the scores."""
    return (default_scale(sizes) if asked is None else asked) ** 2


@wrong(
    "scale",
    incident="BUG-14",
    citation="esceptico/perceiver-io#9",
    where="a scale other than 1 and (several scores or a scale of zero)",
)
def divides_by_the_scale(sizes: Sizes, asked: float | None) -> float:
    """Divides the scores by the scale instead of multiplying them by it."""
    return float(np.divide(1.0, default_scale(sizes) if asked is None else asked))


@wrong(
    "scale",
    incident="BUG-14",
    citation="pytorch/pytorch#174049",
    where="a scale and several scores",
)
def ignores_the_scale(sizes: Sizes, _: float | None) -> float:
    """Ignores the scale that the call gives, and always uses 1 / sqrt(D)."""
    return default_scale(sizes)


@wrong("scale", incident="BUG-14", where="a scale of zero and several scores")
def takes_zero_scale_for_none(sizes: Sizes, asked: float | None) -> float:
    """Treats scale=0 as no scale and uses 1 / sqrt(D): it writes `scale or default`."""
    return asked or default_scale(sizes)


@wrong("scale", incident="BUG-14", where="a scale below zero and several scores")
def drops_the_sign_of_the_scale(sizes: Sizes, asked: float | None) -> float:
    """Loses the sign of a negative scale: it multiplies q and k by sqrt(|scale|) each."""
    return default_scale(sizes) if asked is None else abs(asked)


@wrong(
    "add",
    incident="BUG-15",
    citation="tenstorrent/tt-metal#42891",
    where="finite biases and several scores",
)
def scales_the_bias_too(s: Array, bias: Array, sigma: float) -> Array:
    """Multiplies the bias by the scale too, although the bias is added after scaling."""
    return s + sigma * bias


@wrong("scores", incident="BUG-14", where="several scores")
def normalises_queries_and_keys(q: Array, k: Array, sigma: float) -> Array:
    """Computes scores as scale * D * cos(q, k), so the lengths of q and k have no effect."""
    q, k = (x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-9) for x in (q, k))
    return scores(q, k, sigma) * q.shape[-1]
