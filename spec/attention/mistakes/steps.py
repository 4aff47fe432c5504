"""The right steps, of which every mistake replaces one.

    read, heed, spread, understand, past, limit, within, same_text, and those of `placing`
                                            what the caller's arrays and options mean
    scale, share, scores, cap, add, slant, weigh, sink
                                            the weights
    combine, finish                         the output
    those of `backward_steps`               the gradients
    show, measure                           what an observer sees: weights and log-sum-exp

They say what spec.attention.definition says, in the words of an ordinary program: the
arrays come in the dtype under test, and the options in torch's spelling. A query that may
attend to nothing gets weights, output and gradients of zero and a log-sum-exp of -inf.
float16 is computed in float32, as is usual.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.attention.mistakes import exponentials
from spec.attention.mistakes.exponentials import beside, forbid, left, per_head, softmax
from spec.attention.mistakes.placing import apart
from spec.attention.notation import Window
from spec.notation import Array
from spec.sizes import Sizes

Capped = tuple[Array, Array]  # scores, and which keys are allowed
Heeded = tuple[Array | None, bool]  # a mask and causality


@dataclass(frozen=True)
class Pass:
    """Everything that a forward pass computed; k and v once for every query head.

    s: scores with the bias added, before anything is forbidden. t: products, before the cap.
    anywhere: what is allowed but for the window; of_any_text: but for segments. sinks: those that
    are asked for, (H, 1, 1). slopes: likewise, as they are given. given: what was asked for.
    """

    sizes: Sizes
    q: Array
    k: Array
    v: Array
    sigma: float
    bias: Array
    allowed: Array
    s: Array
    a: Array
    o: Array
    softcap: float | None
    t: Array
    anywhere: Array
    sinks: Array | None
    slopes: Array | None
    of_any_text: Array
    given: Any


def read(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """The inputs in the width of the accumulators, float32 at least."""
    wide = np.result_type(query.dtype, np.float32)
    return query.astype(wide), key.astype(wide), value.astype(wide)


def heed(mask: Array | None, causal: bool, _: Array) -> Heeded:
    """The two options that forbid keys: both are obeyed."""
    return mask, causal


def spread(mask: Array, sizes: Sizes) -> Array:
    """The mask for every batch, head, query and key."""
    return np.broadcast_to(mask, sizes.scores)


def understand(mask: Array) -> tuple[Array, Array]:
    """True may attend; a number is added to the score, and -inf forbids."""
    if mask.dtype == bool:
        return mask, np.zeros(mask.shape)
    allowed = ~np.isneginf(mask)
    return allowed, np.where(allowed, mask, 0)


def past(sizes: Sizes) -> Array:
    """True where key j is not in the future of query i.   (N, M)"""
    return np.arange(sizes.M) <= np.arange(sizes.N)[:, None]


def limit(window: Window, mask: Array | None, causal: bool) -> Window:
    """The window, whatever else is asked."""
    del mask, causal
    return window


def within(sizes: Sizes, window: Window) -> Array:
    """True where key j lies in the window of query i.   (N, M)"""
    ahead, (left, right) = np.arange(sizes.M) - np.arange(sizes.N)[:, None], window
    return (ahead >= (-np.inf if left is None else -left)) & (
        ahead <= (np.inf if right is None else right)
    )


def scale(sizes: Sizes, asked: float | None) -> float:
    """1 / sqrt(D) unless another one is asked for."""
    return default_scale(sizes) if asked is None else asked


def default_scale(sizes: Sizes) -> float:
    """1 / sqrt(D), and for D = 0, where every score is zero, any number."""
    return 1 / float(np.sqrt(max(sizes.D, 1)))


def share(x: Array, heads: int) -> Array:
    """Head h reads key head h // (H / G)."""
    return np.repeat(x, heads // max(x.shape[1], 1), axis=1)


def scores(q: Array, k: Array, sigma: float) -> Array:
    """The scaled products of every query with every key."""
    return sigma * (q @ k.swapaxes(-1, -2))


def cap(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """c tanh(t / c) of all products, whatever is allowed or added, and t if no cap is asked for."""
    del bias
    return (t if given.softcap is None else given.softcap * np.tanh(t / given.softcap)), allowed


def add(s: Array, bias: Array, _: float) -> Array:
    """The bias is added after scaling."""
    return s + bias


def slant(s: Array, _: float, given: Any) -> Array:
    """The scores less m_h |p_i - r_j|, where slopes are asked for, whatever else is."""
    if given.alibi_slopes is None:
        return s
    return s - (per_head(given.alibi_slopes) * apart(given)).astype(s.dtype)


def weigh(s: Array, allowed: Array) -> Array:
    """The softmax over the allowed keys."""
    return softmax(forbid(s, allowed))


def sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """What is left of the weights: all but the share exp(t_h - lse_i) of the sink of their head."""
    if given.sinks is None:
        return a
    rest = left(forbid(s, allowed), beside(given.sinks))
    return np.where(rest == 0, 0, a * rest)


def combine(a: Array, v: Array, allowed: Array) -> Array:
    """The weighted sum of the values; a forbidden value that is no number is not read."""
    live = np.isfinite(v)
    if live.all():
        return a @ v
    reached = allowed.astype(v.dtype) @ ~live > 0
    return np.where(reached, a @ v, a @ np.where(live, v, 0))


def finish(o: Array, dtype: np.dtype[Any]) -> Array:
    """The output in the dtype of the inputs."""
    return o.astype(dtype)


def show(seen: Pass) -> Array:
    """The weights that were used."""
    return seen.a


def measure(seen: Pass) -> Array:
    """log (exp(t_h) + sum_j exp(s_ij)) over the allowed keys, and -inf where there is nothing."""
    return exponentials.with_sink(exponentials.log_sum(forbid(seen.s, seen.allowed)), seen)
