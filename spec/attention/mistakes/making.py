"""Attention composed of named steps: an ordinary function in torch's API dialect.

A known bug is this function with one step replaced:

    @wrong("scale", incident="BUG-14", citation="tenstorrent/tt-metal#56789")
    def scales_by_heads(sizes: Sizes, asked: float | None) -> float:
        '''Divides by the square root of the number of heads instead of the head size.'''
        return 1 / np.sqrt(sizes.H) if asked is None else asked

A function that replaces the step "call" receives the correct function and the arguments of the
call.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from spec import mistake
from spec.attention.contents import UNBOUNDED
from spec.attention.mistakes import backward_steps
from spec.attention.mistakes import steps as right
from spec.attention.mistakes.exponentials import beside
from spec.attention.mistakes.given import Given, native
from spec.attention.mistakes.placing import around, before, place, stay
from spec.attention.mistakes.steps import Pass
from spec.attention.mistakes.texts import same_text
from spec.mistake import Mistake, Steps
from spec.notation import Array
from spec.sizes import Sizes

OTHERS: Mapping[str, Callable[..., Any]] = {
    step.__name__: step for step in (place, before, around, stay, same_text, mistake.call)
}
BACKWARD = vars(mistake.steps(backward_steps))
RIGHT = mistake.steps(right, **BACKWARD, **OTHERS)
Spoils = Literal["forward", "gradient", "weights", "lse", "training", "call", "rounding"]

SPOILS: Mapping[str, Spoils] = {
    **dict.fromkeys(BACKWARD, "gradient"),
    "show": "weights",
    "measure": "lse",
    "call": "call",
}  # what a wrong step spoils; any other step spoils the forward pass
BESIDE = ("gradient", "training", "weights", "lse")  # where the forward pass stays correct
Attend = Callable[[Given], Array]


def computing(sentence: str, dtype: str | None) -> Mistake:
    """A step that makes a mistake compute in a dtype, or in that of its arrays."""

    def read(*arrays: Array) -> tuple[Array, ...]:
        return tuple(x.astype(dtype or x.dtype) for x in arrays)

    steps = {"replaced": {"read": read}, "correct": RIGHT}
    return Mistake("computes", sentence, mistake.PLAUSIBLE, None, "forward", **steps)


# Mistakes compute float16 in float32, and other dtypes in themselves.
ARITHMETICS = (
    computing("Rounds every step to the format of the arrays, as eager programs do.", None),
    computing("Computes in float64, as NumPy does after a product with such a number.", "float64"),
)


def forward(given: Given, steps: Steps) -> Pass:
    """All results of the forward pass, in the dtype of the accumulators."""
    q, k, v = steps.read(given.query, given.key, given.value)
    sizes, given = Sizes.of(q, k, v), _placed(given, steps)
    anywhere, bias = _permissions(given, sizes, steps)
    sight, together = _sight(given, sizes, steps), steps.same_text(given)
    anywhere, of_any_text = anywhere & together, anywhere & sight
    allowed = anywhere & sight
    bias = bias.astype(q.dtype)
    sigma = float(steps.scale(sizes, given.scale))
    k, v = steps.share(k, sizes.H), steps.share(v, sizes.H)
    products = steps.scores(q, k, sigma)
    capped, allowed = steps.cap(products, allowed, bias, given)
    s = steps.slant(steps.add(capped, bias, sigma), sigma, given)
    a = steps.sink(steps.weigh(s, allowed), s, allowed, given)
    o = steps.combine(a, v, allowed)
    t = None if given.sinks is None else beside(given.sinks)
    beyond = (given.softcap, products, anywhere, t, given.alibi_slopes, of_any_text, given)
    return Pass(sizes, q, k, v, sigma, bias, allowed, s, a, o, *beyond)


def _placed(given: Given, steps: Steps) -> Given:
    """The arguments, with positions for both queries and keys, or for neither."""
    p, r = steps.place(given)
    return given.but(query_positions=p, key_positions=r)


def _sight(given: Given, sizes: Sizes, steps: Steps) -> Array:
    """True for keys that the window leaves visible to a query.   (N, M) or (B, 1, N, M)"""
    window = steps.limit(given.window_size, given.attn_mask, given.is_causal)
    if window == UNBOUNDED:
        return np.ones((sizes.N, sizes.M), dtype=bool)
    rows = given.query_positions is None
    near = partial(steps.within, sizes) if rows else partial(steps.around, given)
    return steps.stay(near, window, given)


def _permissions(given: Given, sizes: Sizes, steps: Steps) -> tuple[Array, Array]:
    """The keys that the mask and causality allow, and the bias of the scores.  (B, H, N, M)"""
    past = steps.past(sizes) if given.query_positions is None else steps.before(given)
    mask, causal = steps.heed(given.attn_mask, given.is_causal, past)
    allowed, bias = np.ones(sizes.scores, dtype=bool), np.zeros(sizes.scores)
    if mask is not None:
        allowed, bias = steps.understand(steps.spread(mask, sizes))
    return (allowed & past if causal else allowed), bias


@np.errstate(all="ignore")  # wrong steps overflow and divide by zero; so may masked content
def attend(given: Given, steps: Steps = RIGHT) -> Array:
    """The output, in the dtype of the query.   (B, H, N, E)"""
    return steps.finish(forward(given, steps).o, given.query.dtype)


@np.errstate(all="ignore")
def weights(given: Given, steps: Steps = RIGHT) -> Array:
    """The weights, as they are returned to the caller.   (B, H, N, M)"""
    return steps.show(forward(given, steps)).astype(given.query.dtype)


@np.errstate(all="ignore")
def lse(given: Given, steps: Steps = RIGHT) -> Array:
    """The log-sum-exp of the scores of each query.   (B, H, N)"""
    return steps.measure(forward(given, steps))


@np.errstate(all="ignore")
def backward(dout: Array, given: Given, steps: Steps = RIGHT) -> tuple[Array, Array, Array]:
    """The gradients of <dout, o> with respect to the query, the key and the value."""
    seen = forward(given, steps)
    ds, g = _score_gradients(dout, seen, steps)
    dt = steps.uncap(ds, seen)
    dq = steps.query_gradients(seen, dt)
    dk = steps.gather(steps.key_gradients(seen, dt), given.key.shape[1])
    dv = steps.gather(steps.value_gradients(seen, g), given.value.shape[1])
    return dq.astype(given.query.dtype), dk.astype(given.key.dtype), dv.astype(given.value.dtype)


@np.errstate(all="ignore")
def bias_gradient(dout: Array, given: Given, steps: Steps = RIGHT) -> Array:
    """The gradient of <dout, o> with respect to an additive mask, in the shape of the mask."""
    assert given.attn_mask is not None
    seen = forward(given, steps)
    ds = steps.unbias(_score_gradients(dout, seen, steps)[0], seen)
    return steps.reduce(ds, given.attn_mask.shape).astype(given.attn_mask.dtype)


@np.errstate(all="ignore")
def sink_gradient(dout: Array, given: Given, steps: Steps = RIGHT) -> Array:
    """The gradient of <dout, o> with respect to the sinks.   (H,)"""
    seen = forward(given, steps)
    g = steps.receive(dout).astype(seen.q.dtype)
    return steps.sink_gradients(seen, g).astype(given.sinks.dtype)


@np.errstate(all="ignore")
def slope_gradient(dout: Array, given: Given, steps: Steps = RIGHT) -> Array:
    """The gradient of <dout, o> with respect to the ALiBi slopes, in their shape."""
    seen = forward(given, steps)
    ds, _ = _score_gradients(dout, seen, steps)
    return steps.slope_gradients(seen, ds).astype(given.alibi_slopes.dtype)


def _score_gradients(dout: Array, seen: Pass, steps: Steps) -> tuple[Array, Array]:
    """The gradient with respect to the scores, and `dout` in the dtype of the accumulators."""
    g = steps.receive(dout).astype(seen.q.dtype)
    da = g @ seen.v.swapaxes(-1, -2)
    ds = steps.score_gradients(seen.a, da, steps.row_term(seen, da, g))
    return steps.learn(ds, seen), g


def program(steps: Steps, spoils: Spoils, **observers: Any) -> Any:
    """A native attention function with these steps, and further functions as attributes.

    The attributes are the functions that `spoils` names, and `observers`:

    gradient: backward(dout, query, key, value, **options) -> (dq, dk, dv), and, called likewise,
        bias_gradient, sink_gradient and slope_gradient, shaped like mask, sinks and slopes
    weights, lse, training: functions of the same signature as the function itself
    """
    right = partial(attend, steps=RIGHT if spoils in BESIDE else steps)
    function = native(partial(steps.call, right))
    vars(function).update(_observers(spoils, steps) | observers)
    return function


def at_once(mistakes: Sequence[Mistake]) -> Any:
    """Attention with the steps of several known bugs; None if two of them replace the same step.

    The result is also None if one of them spoils anything other than the forward pass or the
    gradients, or is one of another program, which may have a step of the same name.
    """
    steps = [step for one in mistakes for step in one.replaced]
    usual = all(one.spoils in ("forward", "gradient") for one in mistakes)
    usual &= all(one.correct is RIGHT for one in mistakes)
    if not usual or len({*steps}) < len(steps):
        return None
    first = {k: x for one in mistakes if one.spoils not in BESIDE for k, x in one.replaced.items()}
    every = {k: x for one in mistakes for k, x in one.replaced.items()}
    made = program(replace(RIGHT, **first), "forward")
    if len(every) > len(first):
        vars(made).update(vars(program(replace(RIGHT, **every), "gradient")))
    made.__name__ = "_and_".join(one.name for one in mistakes)
    return made


def wrong(step: str, *, spoils: Spoils | None = None, **facts: Any) -> mistake.Decorator:
    """Attention with one step replaced by the decorated function.

    spoils: what becomes wrong; by default it follows from the step. If it is "gradient" or
        "training", only the backward pass or the output in training is wrong.
    facts: the arguments of `spec.mistake.wrong`; `how` contains further observers.
    """
    told = spoils or SPOILS.get(step, "forward")
    return mistake.wrong(RIGHT, partial(program, spoils=told), step, spoils=told, **facts)


def _observers(spoils: Spoils, steps: Steps) -> dict[str, Any]:
    """The functions other than the forward pass that are wrong."""
    if spoils == "gradient":
        spoiled = (backward, bias_gradient, sink_gradient, slope_gradient)
        return {f.__name__: native(partial(f, steps=steps), "dout") for f in spoiled}
    if spoils == "training":
        return {"training": native(partial(attend, steps=steps))}
    if spoils in ("weights", "lse"):  # both, so that they can be compared
        return {f.__name__: native(partial(f, steps=steps)) for f in (weights, lse)}
    return {}
