"""The forward pass is right, and the gradients are not; or the call is no function."""

from itertools import count
from typing import Any

import numpy as np

from spec.feed_forward.mistakes.making import Forward, wrong
from spec.feed_forward.mistakes.steps import Pass, gate
from spec.notation import Array

# Gates


@wrong("through_gate", incident="plausible", where="gradients asked for and a shut gate")
def forgets_the_gate_backward(_: Pass, dh: Array) -> Array:
    """Passes the cotangent on as if every gate were open."""
    return dh


@wrong("cotangent", incident="plausible", where="gradients asked for and an output of at most 0")
def gates_by_the_output(seen: Pass, dy: Array) -> Array:
    """Takes the derivative of the activation at the output of the network."""
    return np.where(seen.y > 0, dy, 0)


@wrong("through_gate", incident="plausible", where="gradients asked for")
def gates_by_the_cotangent(_: Pass, dh: Array) -> Array:
    """Applies the activation itself on the way back."""
    return gate(dh)


@wrong("through_gate", incident="plausible", where="gradients asked for and N > 1 and a shut gate")
def averages_the_gates_backward(seen: Pass, dh: Array) -> Array:
    """Keeps one gate for each unit, that of its mean over positions."""
    return np.where(seen.z.mean(axis=1, keepdims=True) > 0, dh, 0)


@wrong(
    "through_gate",
    incident="plausible",
    force="should",
    where="gradients asked for and a shut gate",
)
def opens_the_gate_at_zero(seen: Pass, dh: Array) -> Array:
    """Compares with >= 0, as the gradient of torch.clamp does."""
    return np.where(seen.z >= 0, dh, 0)


@wrong(
    "through_gate",
    incident="plausible",
    force="should",
    where="gradients asked for and a shut gate",
)
def opens_the_gate_halfway_at_zero(seen: Pass, dh: Array) -> Array:
    """Divides the gradient between z and 0 where they tie, as torch.maximum does."""
    return np.where(seen.z == 0, dh / 2, np.where(seen.z > 0, dh, 0))


# Sums


@wrong("inner_bias", incident="plausible", where="gradients asked for and B > 1")
def sums_the_inner_bias_over_one_batch_element(dz: Array) -> Array:
    """Sums over positions, and keeps the first element of the batch."""
    return dz.sum(axis=1)[0]


@wrong("outer_bias", incident="plausible", where="gradients asked for and N > 1")
def sums_the_bias_gradient_over_the_batch_only(dy: Array) -> Array:
    """Sums over the batch, and averages over positions to get the shape right."""
    return dy.sum(axis=0).mean(axis=0)


@wrong("outer_bias", incident="plausible", where="gradients asked for and (B > 1 or N > 1)")
def averages_the_bias_gradient(dy: Array) -> Array:
    """Divides by the number of positions, which the loss may or may not have done."""
    return dy.mean(axis=(0, 1))


@wrong("outer_weights", incident="plausible", where="gradients asked for and a shut gate")
def pairs_cotangents_with_what_units_receive(seen: Pass, dy: Array) -> Array:
    """Saves z for the backward pass, and takes it for h."""
    return np.einsum("bnf,bne->fe", seen.z, dy)


# The call


@wrong("call", incident="plausible")
def adds_the_residual_in_place(right: Forward, x: Array, *parameters: Array) -> Array:
    """Adds the residual on the spot, into an input that others still read."""
    y = right(x, *parameters)
    x += y.astype(x.dtype)
    return y


_outputs: dict[tuple[Any, ...], Array] = {}
_calls = count()
_sums: dict[tuple[int, ...], Array] = {}


@wrong("call", incident="plausible")
def remembers_outputs_by_shape(right: Forward, x: Array, *parameters: Array) -> Array:
    """Keeps outputs by shape, for weights that have not changed."""
    key = (x.shape, *(parameter.tobytes() for parameter in parameters))
    return _outputs.setdefault(key, right(x, *parameters))


@wrong("gate", incident="I22")
def drops_units_at_random(z: Array) -> Array:
    """Leaves the dropout between the layers on."""
    kept = np.random.default_rng(next(_calls)).random(z.shape) < 0.9
    return gate(z) * kept.astype(z.dtype)


@wrong("outer_bias", incident="plausible")
def accumulates_bias_gradients(dy: Array) -> Array:
    """Adds to the gradient of the last call, which nobody set to zero."""
    shape = dy.shape[-1:]
    _sums[shape] = _sums.get(shape, np.zeros(shape, dy.dtype)) + dy.sum(axis=(0, 1))
    return _sums[shape]
