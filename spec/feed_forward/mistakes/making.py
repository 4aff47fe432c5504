"""A network built from steps of which one is wrong.

It is a function of x, W1, b1, W2, b2 with an attribute `backward`, as a user would write it.
A function for the step "call" receives the correct forward pass and its arguments; the gradients
are then correct.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from spec import mistake
from spec.feed_forward.mistakes import steps
from spec.feed_forward.mistakes.steps import Pass
from spec.mistake import Steps
from spec.notation import Array

Forward = Callable[..., Array]


def passed(steps: Steps, x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Pass:
    """The results of the forward pass, in float32 or wider."""
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


def program(steps: Steps) -> Any:
    """A function of x, W1, b1, W2, b2, with its gradients."""

    def right(*arrays: Array) -> Array:
        return passed(steps, *arrays).y

    def network(x: Array, W1: Array, b1: Array, W2: Array, b2: Array) -> Array:
        return steps.call(right, x, W1, b1, W2, b2).astype(x.dtype)

    vars(network).update(backward=partial(differentiated, steps))
    return network


wrong = partial(mistake.wrong, mistake.steps(steps, call=mistake.call), program)
