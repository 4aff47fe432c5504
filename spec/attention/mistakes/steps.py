"""The correct steps of the forward pass. A known bug replaces one of them.

    read, heed, spread, understand, past, limit, within, same_text, and those of `placing`
                                            the meaning of the caller's arrays and options
    scale, share, scores, cap, add, slant, weigh, sink
                                            the weights
    combine, finish                         the output
    those of `backward_steps`               the gradients
    show, measure                           the weights and the log-sum-exp as they are returned

They compute the same as spec.attention.definition, but like an ordinary program: the arrays
come in the dtype under test, and the options in torch's API dialect. A fully masked query has
weights, output and gradients of zero, and a log-sum-exp of -inf. float16 is computed in
float32, as is usual.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from spec.attention.contents import Window
from spec.attention.mistakes import exponentials
from spec.attention.mistakes.exponentials import beside, forbid, left, per_head, softmax
from spec.attention.mistakes.placing import apart
from spec.notation import Array
from spec.sizes import Sizes

Capped = tuple[Array, Array]  # scores, and which keys are allowed
Heeded = tuple[Array | None, bool]  # a mask and causality


@dataclass(frozen=True)
class Pass:
    """All results of a forward pass; k and v are repeated for every query head.

    s: scores with the bias, before masking. t: products, before the soft-cap. anywhere: `allowed`
    without the window; of_any_text: without segments. sinks: the given ones, as (H, 1, 1).
    slopes: the given ones, in their given shape. given: the arguments of the call.
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
    """The inputs in the dtype of the accumulators, at least float32."""
    wide = np.result_type(query.dtype, np.float32)
    return query.astype(wide), key.astype(wide), value.astype(wide)


def heed(mask: Array | None, causal: bool, _: Array) -> Heeded:
    """The mask and the causal flag, the two options that mask keys; both apply."""
    return mask, causal


def spread(mask: Array, sizes: Sizes) -> Array:
    """The mask, broadcast to every batch, head, query and key."""
    return np.broadcast_to(mask, sizes.scores)


def understand(mask: Array) -> tuple[Array, Array]:
    """Which keys a mask allows (True, or not -inf), and the numbers that it adds to scores."""
    if mask.dtype == bool:
        return mask, np.zeros(mask.shape)
    allowed = ~np.isneginf(mask)
    return allowed, np.where(allowed, mask, 0)


def past(sizes: Sizes) -> Array:
    """True where key j is not in the future of query i.   (N, M)"""
    return np.arange(sizes.M) <= np.arange(sizes.N)[:, None]


def limit(window: Window, mask: Array | None, causal: bool) -> Window:
    """The window, whatever the other options are."""
    del mask, causal
    return window


def within(sizes: Sizes, window: Window) -> Array:
    """True where key j lies in the window of query i.   (N, M)"""
    ahead, (left, right) = np.arange(sizes.M) - np.arange(sizes.N)[:, None], window
    return (ahead >= (-np.inf if left is None else -left)) & (
        ahead <= (np.inf if right is None else right)
    )


def scale(sizes: Sizes, asked: float | None) -> float:
    """1 / sqrt(D) unless the call gives another scale."""
    return default_scale(sizes) if asked is None else asked


def default_scale(sizes: Sizes) -> float:
    """1 / sqrt(D), and 1 for D = 0, where every score is zero."""
    return 1 / float(np.sqrt(max(sizes.D, 1)))


def share(x: Array, heads: int) -> Array:
    """The keys or values for every query head: head h reads key head h // (H / G)."""
    return np.repeat(x, heads // max(x.shape[1], 1), axis=1)


def scores(q: Array, k: Array, sigma: float) -> Array:
    """The scaled products of every query with every key."""
    return sigma * (q @ k.swapaxes(-1, -2))


def cap(t: Array, allowed: Array, bias: Array, given: Any) -> Capped:
    """c tanh(t / c), or t without a soft-cap, and `allowed`; mask and bias have no effect on it."""
    del bias
    return (t if given.softcap is None else given.softcap * np.tanh(t / given.softcap)), allowed


def add(s: Array, bias: Array, _: float) -> Array:
    """The scores with the bias, which is added after scaling."""
    return s + bias


def slant(s: Array, _: float, given: Any) -> Array:
    """The scores minus m_h |p_i - r_j| if slopes are given, whatever the other options are."""
    if given.alibi_slopes is None:
        return s
    return s - (per_head(given.alibi_slopes) * apart(given)).astype(s.dtype)


def weigh(s: Array, allowed: Array) -> Array:
    """The softmax over the allowed keys."""
    return softmax(forbid(s, allowed))


def sink(a: Array, s: Array, allowed: Array, given: Any) -> Array:
    """The weights times 1 - exp(t_h - lse_i), what the sink of the head leaves."""
    if given.sinks is None:
        return a
    rest = left(forbid(s, allowed), beside(given.sinks))
    return np.where(rest == 0, 0, a * rest)


def combine(a: Array, v: Array, allowed: Array) -> Array:
    """The weighted sum of the values; a masked value that is not finite has no effect."""
    live = np.isfinite(v)
    if live.all():
        return a @ v
    reached = allowed.astype(v.dtype) @ ~live > 0
    return np.where(reached, a @ v, a @ np.where(live, v, 0))


def finish(o: Array, dtype: np.dtype[Any]) -> Array:
    """The output in the dtype of the inputs."""
    return o.astype(dtype)


def show(seen: Pass) -> Array:
    """The weights as they were used."""
    return seen.a


def measure(seen: Pass) -> Array:
    """log (exp(t_h) + sum_j exp(s_ij)) over the allowed keys, and -inf if there are no terms."""
    return exponentials.with_sink(exponentials.log_sum(forbid(seen.s, seen.allowed)), seen)
