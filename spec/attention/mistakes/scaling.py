"""The scale of the scores: 1 / sqrt(D) unless another one is asked for, before the bias is added.

A wrong scale moves every weight a little and no shape at all. Trained models
absorb it, the largest weight stays the largest, and with one head, or D a power
of two, most of these agree with the right scale.
"""

import numpy as np

from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.steps import default_scale, scores
from spec.notation import Array
from spec.sizes import Sizes


@wrong(
    "scale",
    incident="I14",
    citation="lucidrains/vit-pytorch#65",
    where="no scale and H > 1 and several scores",
)
def scales_by_model_width(sizes: Sizes, asked: float | None) -> float:
    """Divides by the square root of the whole width of the model, all heads together."""
    return 1 / np.sqrt(max(sizes.H * sizes.D, 1)) if asked is None else asked


@wrong("scale", incident="I14", where="no scale and D != E and several scores")
def scales_by_value_width(sizes: Sizes, asked: float | None) -> float:
    """Divides by the square root of the width of the values, which is usually the same."""
    return 1 / np.sqrt(max(sizes.E, 1)) if asked is None else asked


@wrong(
    "scale",
    incident="I14",
    citation="tenstorrent/tt-metal#56789",
    where="no scale and D != H and several scores",
)
def scales_by_heads(sizes: Sizes, asked: float | None) -> float:
    """Divides by the square root of the number of heads, having mixed up two variables."""
    return 1 / np.sqrt(max(sizes.H, 1)) if asked is None else asked


@wrong("scale", incident="I14", where="no scale and D != M and several scores")
def scales_by_key_count(sizes: Sizes, asked: float | None) -> float:
    """Divides by the square root of the number of keys, the other axis of the product."""
    return 1 / np.sqrt(max(sizes.M, 1)) if asked is None else asked


@wrong(
    "scale",
    incident="I14",
    citation="intel/ipex-llm#12619",
    where="no scale and D is no power of 2 and several scores",
)
def scales_by_padded_width(sizes: Sizes, asked: float | None) -> float:
    """Takes the width after it was padded to a power of two for the hardware."""
    padded = 2 ** int(np.ceil(np.log2(max(sizes.D, 1))))
    return 1 / np.sqrt(padded) if asked is None else asked


@wrong("scale", incident="I14", where="no scale and several scores")
def scales_by_width_plus_one(sizes: Sizes, asked: float | None) -> float:
    """Counts the width from zero, and adds the one that was not missing."""
    return 1 / np.sqrt(sizes.D + 1) if asked is None else asked


@wrong("scale", incident="I14", where="no scale and D > 1 and several scores")
def divides_by_width(sizes: Sizes, asked: float | None) -> float:
    """Forgets the square root."""
    return 1 / max(sizes.D, 1) if asked is None else asked


@wrong("scale", incident="I14", where="no scale and D > 1 and several scores")
def leaves_scores_unscaled(_: Sizes, asked: float | None) -> float:
    """Leaves scaling to the caller, who left it to the default."""
    return 1.0 if asked is None else asked


@wrong("scale", incident="I14", where="several scores and a scale other than 1")
def scales_twice(sizes: Sizes, asked: float | None) -> float:
    """Scales the queries first, and the scores again."""
    return (default_scale(sizes) if asked is None else asked) ** 2


@wrong(
    "scale",
    incident="I14",
    citation="esceptico/perceiver-io#9",
    where="a scale other than 1 and (several scores or a scale of zero)",
)
def divides_by_the_scale(sizes: Sizes, asked: float | None) -> float:
    """Divides by D ** -0.5, where it meant to multiply."""
    return float(np.divide(1.0, default_scale(sizes) if asked is None else asked))


@wrong(
    "scale", incident="I14", citation="pytorch/pytorch#174049", where="a scale and several scores"
)
def ignores_the_scale(sizes: Sizes, _: float | None) -> float:
    """Has the default compiled in, and never looks at what is asked for."""
    return default_scale(sizes)


@wrong("scale", incident="I14", where="a scale of zero and several scores")
def takes_zero_scale_for_none(sizes: Sizes, asked: float | None) -> float:
    """Writes `scale or default`, and so cannot be asked for zero."""
    return asked or default_scale(sizes)


@wrong("scale", incident="I14", where="a scale below zero and several scores")
def drops_the_sign_of_the_scale(sizes: Sizes, asked: float | None) -> float:
    """Multiplies q and k by sqrt(|scale|) each, since a negative number has no root."""
    return default_scale(sizes) if asked is None else abs(asked)


@wrong(
    "add",
    incident="I15",
    citation="tenstorrent/tt-metal#42891",
    where="finite biases and several scores",
)
def scales_the_bias_too(s: Array, bias: Array, sigma: float) -> Array:
    """Folds the scale into the exponential, past the addition of the bias."""
    return s + sigma * bias


@wrong("scores", incident="I14", where="several scores")
def normalises_queries_and_keys(q: Array, k: Array, sigma: float) -> Array:
    """Compares directions only: the cosine of query and key, times sqrt(D)."""
    q, k = (x / np.maximum(np.linalg.norm(x, axis=-1, keepdims=True), 1e-9) for x in (q, k))
    return scores(q, k, sigma) * q.shape[-1]
