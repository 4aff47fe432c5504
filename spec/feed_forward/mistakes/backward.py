"""Known bugs in the gradients, and calls with side effects or changing results."""

from itertools import count
from typing import Any

import numpy as np

from spec.feed_forward.mistakes.making import Forward, wrong
from spec.feed_forward.mistakes.steps import Pass, gate
from spec.notation import Array

# Gates


@wrong("through_gate", incident="plausible", where="gradients asked for and a closed gate")
def forgets_the_gate_backward(_: Pass, dh: Array) -> Array:
    """Ignores the ReLU in the backward pass, as if every unit were active."""
    return dh


@wrong("cotangent", incident="plausible", where="gradients asked for and an output of at most 0")
def gates_by_the_output(seen: Pass, dy: Array) -> Array:
    """Zeroes the cotangent where the output y is not positive, as if the ReLU came last."""
    return np.where(seen.y > 0, dy, 0)


@wrong("through_gate", incident="plausible", where="gradients asked for")
def gates_by_the_cotangent(_: Pass, dh: Array) -> Array:
    """Applies the ReLU to the gradient dh itself instead of testing z > 0."""
    return gate(dh)


@wrong(
    "through_gate", incident="plausible", where="gradients asked for and N > 1 and a closed gate"
)
def averages_the_gates_backward(seen: Pass, dh: Array) -> Array:
    """Tests the mean of z over the positions instead of each z in the backward pass."""
    return np.where(seen.z.mean(axis=1, keepdims=True) > 0, dh, 0)


@wrong(
    "through_gate",
    incident="plausible",
    force="should",
    where="gradients asked for and a closed gate",
)
def opens_the_gate_at_zero(seen: Pass, dh: Array) -> Array:
    """Passes the gradient where z >= 0 instead of z > 0, as the gradient of torch.clamp does."""
    return np.where(seen.z >= 0, dh, 0)


@wrong(
    "through_gate",
    incident="plausible",
    force="should",
    where="gradients asked for and a closed gate",
)
def opens_the_gate_halfway_at_zero(seen: Pass, dh: Array) -> Array:
    """Passes half of the gradient where z = 0, as torch.maximum does."""
    return np.where(seen.z == 0, dh / 2, np.where(seen.z > 0, dh, 0))


# Sums


@wrong("inner_bias", incident="plausible", where="gradients asked for and B > 1")
def sums_the_inner_bias_over_one_batch_element(dz: Array) -> Array:
    """Sums the gradient of b1 over the positions of the first batch element only."""
    return dz.sum(axis=1)[0]


@wrong("outer_bias", incident="plausible", where="gradients asked for and N > 1")
def sums_the_bias_gradient_over_the_batch_only(dy: Array) -> Array:
    """Sums the gradient of b2 over the batch, but averages it over the positions."""
    return dy.sum(axis=0).mean(axis=0)


@wrong("outer_bias", incident="plausible", where="gradients asked for and (B > 1 or N > 1)")
def averages_the_bias_gradient(dy: Array) -> Array:
    """Averages the gradient of b2 over positions and batch instead of summing it."""
    return dy.mean(axis=(0, 1))


@wrong("outer_weights", incident="plausible", where="gradients asked for and a closed gate")
def pairs_cotangents_with_what_units_receive(seen: Pass, dy: Array) -> Array:
    """Computes the gradient of W2 from z instead of h = max(0, z)."""
    return np.einsum("bnf,bne->fe", seen.z, dy)


# The call


@wrong("call", incident="plausible")
def adds_the_residual_in_place(right: Forward, x: Array, *parameters: Array) -> Array:
    """Adds the output to the caller's input x in place."""
    y = right(x, *parameters)
    x += y.astype(x.dtype)
    return y


_outputs: dict[tuple[Any, ...], Array] = {}
_calls = count()
_sums: dict[tuple[int, ...], Array] = {}


@wrong("call", incident="plausible")
def remembers_outputs_by_shape(right: Forward, x: Array, *parameters: Array) -> Array:
    """Caches outputs by the shape of x and the parameters, and returns them for another x."""
    key = (x.shape, *(parameter.tobytes() for parameter in parameters))
    return _outputs.setdefault(key, right(x, *parameters))


@wrong("gate", incident="BUG-22")
def drops_units_at_random(z: Array) -> Array:
    """Drops each unit with probability 0.1, as if dropout were always on."""
    kept = np.random.default_rng(next(_calls)).random(z.shape) < 0.9
    return gate(z) * kept.astype(z.dtype)


@wrong("outer_bias", incident="plausible")
def accumulates_bias_gradients(dy: Array) -> Array:
    """Adds the gradient of b2 to those of earlier calls with the same width."""
    shape = dy.shape[-1:]
    _sums[shape] = _sums.get(shape, np.zeros(shape, dy.dtype)) + dy.sum(axis=(0, 1))
    return _sums[shape]
