"""Attention in named steps, all right; a mistake replaces one of them.

    read, heed, spread, understand, past    what the caller's arrays and options mean
    scale, share, scores, add, weigh        the weights
    combine, finish                         the output
    receive, row_term, score_gradients, query_gradients, key_gradients, value_gradients, gather,
    reduce                                  the gradients
    show, measure                           what an observer sees: weights and log-sum-exp

Every step is an ordinary function, and the default of the field with its name in
`Steps`. A query that may attend to nothing gets weights, output and gradients of
zero and a log-sum-exp of -inf. float16 is computed in float32, as is usual.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np

from spec.attention.mistakes import steps as right
from spec.attention.mistakes.steps import Pass, Sizes
from spec.attention.options import PARAMETERS
from spec.notation import Array


@dataclass(frozen=True)
class Steps:
    """The steps of attention: the right ones, unless told otherwise."""

    read: Callable[[Array, Array, Array], tuple[Array, Array, Array]] = right.read
    heed: Callable[[Array | None, bool, Sizes], tuple[Array | None, bool]] = right.heed
    spread: Callable[[Array, Sizes], Array] = right.spread
    understand: Callable[[Array], tuple[Array, Array]] = right.understand
    past: Callable[[Sizes], Array] = right.past
    scale: Callable[[Sizes, float | None], float] = right.scale
    share: Callable[[Array, int], Array] = right.share
    scores: Callable[[Array, Array, float], Array] = right.scores
    add: Callable[[Array, Array, float], Array] = right.add
    weigh: Callable[[Array, Array], Array] = right.weigh
    combine: Callable[[Array, Array, Array], Array] = right.combine
    finish: Callable[[Array, np.dtype[Any]], Array] = right.finish
    receive: Callable[[Array], Array] = right.receive
    row_term: Callable[[Pass, Array, Array], Array] = right.row_term
    score_gradients: Callable[[Array, Array, Array], Array] = right.score_gradients
    query_gradients: Callable[[Pass, Array], Array] = right.query_gradients
    key_gradients: Callable[[Pass, Array], Array] = right.key_gradients
    value_gradients: Callable[[Pass, Array], Array] = right.value_gradients
    gather: Callable[[Array, int], Array] = right.gather
    reduce: Callable[[Array, tuple[int, ...]], Array] = right.reduce
    show: Callable[[Pass], Array] = right.show
    measure: Callable[[Pass], Array] = right.measure

    def but(self, **changes: Callable[..., Any]) -> Steps:
        """The same steps, except for `changes`."""
        return replace(self, **changes)


RIGHT = Steps()


NEUTRAL = {option.spellings[0]: option.neutral for option in PARAMETERS}


class Options(SimpleNamespace):
    """What a caller asks for beside the arrays, by the widely used spellings of the options."""

    def __init__(self, **asked: Any) -> None:
        if not asked.keys() <= NEUTRAL.keys():
            raise TypeError(f"there are the options {', '.join(NEUTRAL)}, not {', '.join(asked)}")
        super().__init__(**{**NEUTRAL, **asked})

    def but(self, **changes: Any) -> Options:
        """The same options, except for `changes`."""
        return Options(**{**vars(self), **changes})


Attend = Callable[[Array, Array, Array, Options], Array]


def forward(query: Array, key: Array, value: Array, options: Options, steps: Steps) -> Pass:
    """Everything that the forward pass computes, in the width of its accumulators."""
    q, k, v = steps.read(query, key, value)
    sizes = Sizes.of(q, k, v)
    allowed, bias = _permissions(options, sizes, steps)
    bias = bias.astype(q.dtype)
    sigma = float(steps.scale(sizes, options.scale))
    k, v = steps.share(k, sizes.H), steps.share(v, sizes.H)
    products = steps.scores(q, k, sigma)
    s = steps.add(products, bias, sigma)
    a = steps.weigh(s, allowed)
    o = steps.combine(a, v, allowed)
    return Pass(sizes, q, k, v, sigma, bias, allowed, s, a, o)


def _permissions(options: Options, sizes: Sizes, steps: Steps) -> tuple[Array, Array]:
    """Which keys each query may attend to, and what is added to its scores.   (B, H, N, M)"""
    mask, causal = steps.heed(options.attn_mask, options.is_causal, sizes)
    allowed, bias = np.ones(sizes.scores, dtype=bool), np.zeros(sizes.scores)
    if mask is not None:
        allowed, bias = steps.understand(steps.spread(mask, sizes))
    return (allowed & steps.past(sizes) if causal else allowed), bias


@np.errstate(all="ignore")  # wrong steps overflow and divide by zero; so may forbidden content
def attend(query: Array, key: Array, value: Array, options: Options, steps: Steps = RIGHT) -> Array:
    """The output, in the dtype of the query.   (B, H, N, E)"""
    return steps.finish(forward(query, key, value, options, steps).o, query.dtype)


@np.errstate(all="ignore")
def weights(
    query: Array, key: Array, value: Array, options: Options, steps: Steps = RIGHT
) -> Array:
    """The weights, as they are shown to whoever asks.   (B, H, N, M)"""
    shown = steps.show(forward(query, key, value, options, steps))
    return shown.astype(query.dtype)


@np.errstate(all="ignore")
def lse(query: Array, key: Array, value: Array, options: Options, steps: Steps = RIGHT) -> Array:
    """The log-sum-exp of the scores of each query.   (B, H, N)"""
    return steps.measure(forward(query, key, value, options, steps))


@np.errstate(all="ignore")
def backward(
    dout: Array, query: Array, key: Array, value: Array, options: Options, steps: Steps = RIGHT
) -> tuple[Array, Array, Array]:
    """The gradients of <dout, o> by the query, the key and the value."""
    seen = forward(query, key, value, options, steps)
    ds, g = _score_gradients(dout, seen, steps)
    dq = steps.query_gradients(seen, ds)
    dk = steps.gather(steps.key_gradients(seen, ds), key.shape[1])
    dv = steps.gather(steps.value_gradients(seen, g), value.shape[1])
    return dq.astype(query.dtype), dk.astype(key.dtype), dv.astype(value.dtype)


@np.errstate(all="ignore")
def bias_gradient(
    dout: Array, query: Array, key: Array, value: Array, options: Options, steps: Steps = RIGHT
) -> Array:
    """The gradient of <dout, o> by an additive mask, shaped like the mask."""
    assert options.attn_mask is not None
    seen = forward(query, key, value, options, steps)
    ds, _ = _score_gradients(dout, seen, steps)
    return steps.reduce(ds, options.attn_mask.shape).astype(query.dtype)


def _score_gradients(dout: Array, seen: Pass, steps: Steps) -> tuple[Array, Array]:
    """The gradient by the scores, and `dout` in the width of the accumulators."""
    g = steps.receive(dout).astype(seen.q.dtype)
    da = g @ seen.v.swapaxes(-1, -2)
    return steps.score_gradients(seen.a, da, steps.row_term(seen, da, g)), g
