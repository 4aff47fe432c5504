"""Known bugs in the output: activation, biases, widths, and positions that interact."""

import numpy as np

from spec.feed_forward.mistakes.making import Forward, wrong
from spec.feed_forward.mistakes.steps import gate, receive, send
from spec.notation import Array

# Gates


@wrong("gate", incident="plausible", where="a closed gate")
def leaves_out_the_gate(z: Array) -> Array:
    """Leaves out the ReLU, so the network is linear."""
    return z


@wrong("finish", incident="plausible", where="an output of at most 0")
def gates_the_output_too(y: Array) -> Array:
    """Applies a ReLU to the output, too."""
    return np.maximum(y, 0)


@wrong("call", incident="plausible", where="a closed gate or an output of at most 0")
def gates_after_the_second_map(
    _: Forward, x: Array, W1: Array, b1: Array, W2: Array, b2: Array
) -> Array:
    """Applies the ReLU after the second linear map instead of between the two."""
    return gate(send(receive(x, W1, b1), W2, b2))


@wrong("gate", incident="plausible", where="a closed gate")
def leaks_below_zero(z: Array) -> Array:
    """Uses a leaky ReLU: multiplies negative z by 0.01 instead of replacing it by zero."""
    return np.where(z > 0, z, z.dtype.type(0.01) * z)


@wrong("gate", incident="plausible")
def smooths_the_gate(z: Array) -> Array:
    """Uses the GELU in its tanh form instead of the ReLU."""
    return z / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (z + 0.044715 * z**3))).astype(z.dtype)


@wrong("gate", incident="plausible", where="units above 6")
def saturates(z: Array) -> Array:
    """Uses ReLU6, which clips the units at 6."""
    return np.clip(z, 0, 6)


@wrong("gate", incident="plausible", where="not float16")
def rounds_what_units_hold(z: Array) -> Array:
    """Rounds the activations h to float16."""
    return gate(z).astype(np.float16).astype(z.dtype)


# Biases


@wrong("receive", incident="plausible", where="an inner bias")
def forgets_the_inner_bias(x: Array, W1: Array, _: Array) -> Array:
    """Does not add the inner bias b1."""
    return x @ W1


@wrong("send", incident="plausible", where="an outer bias")
def adds_the_outer_bias_twice(h: Array, W2: Array, b2: Array) -> Array:
    """Adds the outer bias b2 twice."""
    return h @ W2 + b2 + b2


@wrong("send", incident="plausible", where="an outer bias and F > 1")
def adds_the_outer_bias_on_each_shard(h: Array, W2: Array, b2: Array) -> Array:
    """Splits the units into two shards, and adds the whole outer bias b2 in each."""
    half = (W2.shape[0] + 1) // 2
    shards = [(h[..., :half], W2[:half]), (h[..., half:], W2[half:])]
    parts = [part @ rows + b2 for part, rows in shards if len(rows)]
    return np.asarray(sum(parts[1:], parts[0]))


@wrong("call", incident="plausible", where="an inner bias")
def adds_the_inner_bias_after_the_gate(
    _: Forward, x: Array, W1: Array, b1: Array, W2: Array, b2: Array
) -> Array:
    """Adds the inner bias b1 after the ReLU instead of before it."""
    return (gate(x @ W1) + b1) @ W2 + b2


# Widths


@wrong("receive", incident="plausible", where="E = F and F > 1")
def transposes_equal_widths(x: Array, W1: Array, b1: Array) -> Array:
    """Transposes W1 if it is square (E = F)."""
    return receive(x, W1.T if W1.shape[0] == W1.shape[1] else W1, b1)


@wrong("gate", incident="plausible", where="F % 2 != 0 and F > 1")
def skips_the_last_unit(z: Array) -> Array:
    """Zeroes the last unit if the number F of units is odd and above 1."""
    paired = np.arange(z.shape[-1]) < z.shape[-1] // 2 * 2
    return np.where(paired | (z.shape[-1] == 1), gate(z), 0)


# Positions and batch elements


@wrong("arrive", incident="plausible")
def subtracts_the_mean_over_positions(x: Array) -> Array:
    """Subtracts the mean over the positions from the input, so positions interact."""
    return x - x.mean(axis=1, keepdims=True)


@wrong("gate", incident="plausible", where="N > 1 and a closed gate")
def gates_by_the_mean_over_positions(z: Array) -> Array:
    """Tests the mean of z over the positions instead of each z to decide if a unit is active."""
    return np.where(z.mean(axis=1, keepdims=True) > 0, z, 0)


@wrong("arrive", incident="plausible")
def normalises_over_the_batch(x: Array) -> Array:
    """Subtracts the mean over the batch from the input, as batch normalisation does."""
    return x - x.mean(axis=0, keepdims=True)


@wrong("gate", incident="plausible", where="B > 1 and a closed gate")
def gates_by_the_mean_over_the_batch(z: Array) -> Array:
    """Tests the mean of z over the batch instead of each z to decide if a unit is active."""
    return np.where(z.mean(axis=0, keepdims=True) > 0, z, 0)


@wrong("receive", incident="plausible", where="N > 1")
def adds_the_previous_position(x: Array, W1: Array, b1: Array) -> Array:
    """Adds the input of the previous position, as a convolution of kernel size 2 does."""
    before = np.concatenate([np.zeros_like(x[:, :1]), x[:, :-1]], axis=1)
    return receive(x + before, W1, b1)


@wrong("finish", incident="plausible", where="N > 1")
def weights_by_position(y: Array) -> Array:
    """Divides the output at position n by n + 1."""
    return y / (1 + np.arange(y.shape[1], dtype=y.dtype))[:, None]


@wrong("arrive", incident="plausible")
def normalises_each_position(x: Array) -> Array:
    """Divides the input at each position by its root mean square, as a norm layer would."""
    size = np.sqrt((x * x).mean(axis=-1, keepdims=True))
    return x / np.where(size == 0, 1, size)
