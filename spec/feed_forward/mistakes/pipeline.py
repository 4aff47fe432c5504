"""The right network as steps, of which every mistake replaces one.

    @wrong("gate", incident="plausible")
    def leaves_out_the_gate(z: Array) -> Array:
        '''Leaves the activation out, so that two layers are one.'''
        return z

Decorated, the name stands for a function of x, W1, b1, W2, b2 with an attribute
`backward`, as a user would write it, and its record is its attribute `mistake`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from spec.feed_forward.plug import feed_forward
from spec.mistake import Mistake, described
from spec.notation import Array


class Network(Protocol):
    """A feed-forward function, and its gradients."""

    __name__: str
    mistake: Mistake
    backward: Callable[..., Any]

    def __call__(self, x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Array: ...


class Pass(NamedTuple):
    """Everything that a forward pass computed."""

    x: Array
    W1: Array
    b1: Array
    W2: Array
    b2: Array
    z: Array
    h: Array
    y: Array


def arrive(x: Array) -> Array:
    """The input as it is."""
    return x


def receive(x: Array, W1: Array, b1: Array) -> Array:
    """z = x W1 + b1."""
    return x @ W1 + b1


def gate(z: Array) -> Array:
    """h = max(0, z)."""
    return np.maximum(z, 0)


def send(h: Array, W2: Array, b2: Array) -> Array:
    """y = h W2 + b2."""
    return h @ W2 + b2


def finish(y: Array) -> Array:
    """The output as it is."""
    return y


def cotangent(_: Pass, dy: Array) -> Array:
    """The derivative by the output, which the caller knows."""
    return dy


def through_gate(seen: Pass, dh: Array) -> Array:
    """dz = dh where the gate is open."""
    return np.where(seen.z > 0, dh, 0)


def inner_bias(dz: Array) -> Array:
    """db1 = sum dz."""
    return dz.sum(axis=(0, 1))


def outer_weights(seen: Pass, dy: Array) -> Array:
    """dW2 = sum h^T dy."""
    return np.einsum("bnf,bne->fe", seen.h, dy)


def outer_bias(dy: Array) -> Array:
    """db2 = sum dy."""
    return dy.sum(axis=(0, 1))


@dataclass(frozen=True)
class Steps:
    """The steps, each a function."""

    arrive: Callable[..., Array] = arrive
    receive: Callable[..., Array] = receive
    gate: Callable[..., Array] = gate
    send: Callable[..., Array] = send
    finish: Callable[..., Array] = finish
    cotangent: Callable[..., Array] = cotangent
    through_gate: Callable[..., Array] = through_gate
    inner_bias: Callable[..., Array] = inner_bias
    outer_weights: Callable[..., Array] = outer_weights
    outer_bias: Callable[..., Array] = outer_bias


RIGHT = Steps()


def passed(steps: Steps, x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Pass:
    """The forward pass, in float32 at least."""
    wide = np.result_type(x.dtype, np.float32)
    x, W1, b1, W2, b2 = (a.astype(wide) for a in (x, W1, b1, W2, b2))
    x = steps.arrive(x)
    z = steps.receive(x, W1, b1)
    h = steps.gate(z)
    y = steps.finish(steps.send(h, W2, b2))
    return Pass(x, W1, b1, W2, b2, z, h, y)


def differentiated(steps: Steps, dy: Array, *arrays: Array) -> tuple[Array, ...]:
    """dx, dW1, db1, dW2, db2."""
    seen = passed(steps, *arrays)
    dy = steps.cotangent(seen, dy.astype(seen.x.dtype))
    dz = steps.through_gate(seen, dy @ seen.W2.T)
    found = (
        dz @ seen.W1.T,
        np.einsum("bne,bnf->ef", seen.x, dz),
        steps.inner_bias(dz),
        steps.outer_weights(seen, dy),
        steps.outer_bias(dy),
    )
    return tuple(dx.astype(arrays[0].dtype) for dx in found)


def wrong(step: str, **facts: Any) -> Callable[[Callable[..., Array]], Network]:
    """The network with one step replaced by the decorated function."""

    def decorate(replacement: Callable[..., Array]) -> Network:
        steps = replace(RIGHT, **{step: replacement})

        def network(x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Array:
            return passed(steps, x, W1, b1, W2, b2).y.astype(x.dtype)

        return _described(network, replacement, steps, **facts)

    return decorate


def whole(**facts: Any) -> Callable[[Callable[..., Array]], Network]:
    """The decorated function for the forward pass, with the right gradients."""

    def decorate(function: Callable[..., Array]) -> Network:
        def network(x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Array:
            return function(x, W1, b1, W2, b2).astype(x.dtype)

        return _described(network, function, RIGHT, **facts)

    return decorate


def _described(function: Any, source: Callable[..., Any], steps: Steps, **facts: Any) -> Network:
    """The function with gradients, under the name and docstring of `source`."""
    function.backward = lambda dy, *arrays: differentiated(steps, dy, *arrays)
    return cast(Network, described(function, source, load=feed_forward, **facts))
