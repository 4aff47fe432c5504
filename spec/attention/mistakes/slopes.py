"""Known bugs of ALiBi slopes: not applied in some calls, or read at a wrong index.

Without slopes, a model has no information about positions, but the output still looks plausible.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.attention.mistakes.exponentials import forbid, log_sum, per_head, softmax
from spec.attention.mistakes.making import wrong
from spec.attention.mistakes.placing import apart
from spec.attention.mistakes.steps import Pass, measure, slant
from spec.notation import Array
from spec.sizes import Sizes


def slanted(s: Array, m: Array, distance: Array) -> Array:
    """The scores minus slopes m, (B or 1, H or 1, 1, 1), times a distance."""
    return s - (m * distance).astype(s.dtype)


def sizes_of(given: Any) -> Sizes:
    """The sizes of the arrays that the caller passes."""
    return Sizes.of(given.query, given.key, given.value)


def forgotten(where: Callable[[Any], bool]) -> Callable[[Array, float, Any], Array]:
    """The step without slopes in calls for which `where` is true, and with them in others."""
    return lambda s, sigma, given: s if where(given) else slant(s, sigma, given)


def read(of: Callable[[Array, Any], Array]) -> Callable[[Array, float, Any], Array]:
    """The step with other slopes instead of the given ones."""

    def step(s: Array, _: float, given: Any) -> Array:
        m = given.alibi_slopes
        return s if m is None else slanted(s, of(per_head(m), given), apart(given))

    return step


@wrong(
    "slant",
    incident="BUG-42",
    citation="vllm-project/vllm-xpu-kernels#489",
    where="ALiBi slopes and several scores",
)
def ignores_the_slopes(s: Array, _: float, __: Any) -> Array:
    """Accepts ALiBi slopes, but does not use them."""
    return s


@wrong("slant", incident="BUG-42", where="ALiBi slopes and a mask")
def forgets_slopes_beside_a_mask(s: Array, sigma: float, given: Any) -> Array:
    """Does not apply ALiBi slopes if a mask is given: it adds only one term to the scores."""
    return forgotten(lambda x: x.attn_mask is not None)(s, sigma, given)


@wrong("slant", incident="BUG-42", where="ALiBi slopes and causal")
def forgets_slopes_beside_causality(s: Array, sigma: float, given: Any) -> Array:
    """Does not apply ALiBi slopes in causal calls, which take a separate code path."""
    return forgotten(lambda x: x.is_causal)(s, sigma, given)


@wrong("slant", incident="BUG-42", where="ALiBi slopes and a window")
def forgets_slopes_beside_a_window(s: Array, sigma: float, given: Any) -> Array:
    """Does not apply ALiBi slopes in calls with a window, which take a separate code path."""
    return forgotten(lambda x: x.window_size != (None, None))(s, sigma, given)


@wrong("slant", incident="BUG-42", where="ALiBi slopes and a soft-cap")
def forgets_slopes_beside_a_cap(s: Array, sigma: float, given: Any) -> Array:
    """Does not apply ALiBi slopes if a soft-cap is given: it supports one of the two at a time."""
    return forgotten(lambda x: x.softcap is not None)(s, sigma, given)


@wrong("slant", incident="BUG-42", where="ALiBi slopes and an attention sink")
def forgets_slopes_beside_sinks(s: Array, sigma: float, given: Any) -> Array:
    """Does not apply ALiBi slopes if sinks are given, for which it has a separate kernel."""
    return forgotten(lambda x: x.sinks is not None)(s, sigma, given)


@wrong("slant", incident="BUG-42", where="ALiBi slopes and N = 1 and several scores")
def has_no_slopes_for_a_single_query(s: Array, sigma: float, given: Any) -> Array:
    """Does not apply ALiBi slopes for a single query: the decoding kernel is older than slopes."""
    return forgotten(lambda x: x.query.shape[2] == 1)(s, sigma, given)


@wrong("slant", incident="plausible", where="ALiBi slopes and H > 1")
def shares_the_first_slope_among_heads(s: Array, sigma: float, given: Any) -> Array:
    """Uses the ALiBi slope of the first head for every head."""
    return read(lambda m, _: m[:, :1])(s, sigma, given)


@wrong("slant", incident="plausible", where="ALiBi slopes and H > 1")
def reads_slopes_in_reverse(s: Array, sigma: float, given: Any) -> Array:
    """Reads the ALiBi slopes in reverse order, so the first head uses the slope of the last."""
    return read(lambda m, _: m[:, ::-1])(s, sigma, given)


@wrong(
    "slant",
    incident="plausible",
    where="ALiBi slopes and (H > 1 or (ALiBi slopes per sequence and B > 1))",
)
def reads_slopes_of_the_batch(s: Array, sigma: float, given: Any) -> Array:
    """Reads the ALiBi slope at the index of the batch element, modulo H, not of the head."""
    batch = np.arange(len(given.query)) % max(given.query.shape[1], 1)
    return read(lambda m, _: m[0, batch][:, None])(s, sigma, given)


@wrong("slant", incident="plausible", where="ALiBi slopes and grouped heads")
def reads_slopes_as_if_heads_were_groups(s: Array, sigma: float, given: Any) -> Array:
    """Reads the ALiBi slope of head h at h // (H / G), the index of its key head, not at h."""
    R = given.query.shape[1] // max(given.key.shape[1], 1)
    heads = np.arange(given.query.shape[1]) // max(R, 1)
    return read(lambda m, _: m[:, heads])(s, sigma, given)


@wrong("slant", incident="BUG-42", where="ALiBi slopes per sequence and B > 1")
def reads_the_slopes_of_the_first_sequence(s: Array, sigma: float, given: Any) -> Array:
    """Uses the ALiBi slopes of the first batch element for the whole batch (batch stride 0)."""
    return read(lambda m, _: m[:1])(s, sigma, given)


@wrong("slant", incident="plausible", where="ALiBi slopes and several scores")
def has_slopes_of_its_own(s: Array, sigma: float, given: Any) -> Array:
    """Ignores the given slopes and uses the published ones, 2^(-8 h / H) for h = 1, ..., H."""
    H = given.query.shape[1]
    published = np.exp2(-8 * np.arange(1, H + 1) / max(H, 1))
    return read(lambda _, __: per_head(published))(s, sigma, given)


@wrong("show", incident="BUG-42", where="the weights asked for and ALiBi slopes")
def shows_weights_without_the_slopes(seen: Pass) -> Array:
    """Returns weights recomputed without ALiBi slopes (and sinks), although the output is right."""
    if seen.slopes is None:
        return seen.a
    return softmax(forbid(level(seen), seen.allowed))


@wrong("measure", incident="BUG-42", where="the log-sum-exp asked for and ALiBi slopes")
def measures_lse_without_the_slopes(seen: Pass) -> Array:
    """Returns the log-sum-exp of scores without ALiBi slopes, although the output is right."""
    if seen.slopes is None:
        return measure(seen)
    keys = log_sum(forbid(level(seen), seen.allowed))
    return keys if seen.sinks is None else np.logaddexp(keys, seen.sinks[..., 0])


@wrong("measure", incident="BUG-42", where="the log-sum-exp asked for and ALiBi slopes and N > 1")
def measures_lse_from_the_first_place(seen: Pass) -> Array:
    """Returns a log-sum-exp that is m i too large: it adds m j to the scores and forgets -m i."""
    lse = measure(seen)
    if seen.slopes is None:
        return lse
    return lse + per_head(seen.slopes)[..., 0] * np.arange(seen.sizes.N)


def level(seen: Pass) -> Array:
    """The scores before slopes are added."""
    assert seen.slopes is not None
    return seen.s + (per_head(seen.slopes) * apart(seen.given)).astype(seen.s.dtype)
