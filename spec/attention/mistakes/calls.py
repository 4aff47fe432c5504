"""Known bugs of the call: changed inputs, reused memory, kept state, wrong output dtype or shape.

For most of these bugs, the numbers of a first call with fresh contiguous arrays are right. A test
that compares only those numbers does not show them.
"""

import itertools
from typing import Any

import numpy as np

from spec.attention.mistakes import making, steps
from spec.attention.mistakes.given import Given, native
from spec.attention.mistakes.making import Attend, wrong
from spec.attention.mistakes.steps import default_scale
from spec.notation import Array
from spec.sizes import Sizes

# The caller's memory


@wrong("call", incident="plausible")
def scales_queries_in_place(attend: Attend, given: Given) -> Array:
    """Scales the queries in place (`query *= scale`), and so changes the caller's array."""
    query, sigma = given.query, default_scale(Sizes.of(given.query, given.key, given.value))
    if query.flags.writeable:
        query *= query.dtype.type(sigma if given.scale is None else given.scale)
        given = given.but(scale=1.0)
    return attend(given)


@wrong("call", incident="plausible", where="a watched call asked for and a mask")
def writes_into_the_mask(attend: Attend, given: Given) -> Array:
    """Changes the caller's mask in place after it has computed the output."""
    out, mask = attend(given), given.attn_mask
    if mask is not None and mask.flags.writeable:
        mask[...] = ~mask if mask.dtype == bool else np.maximum(mask, np.finfo(mask.dtype).min) - 1
    return out


@wrong("call", incident="plausible")
def returns_the_values_themselves(attend: Attend, given: Given) -> Array:
    """Returns the caller's value array, not a copy, if N = M = 1, G = H and no mask is given."""
    value = given.value
    alike = value.shape == (*given.query.shape[:-1], value.shape[-1])
    one = given.key.shape[2] == 1 and alike and given.attn_mask is None
    return value if one else attend(given)


@wrong("read", incident="BUG-26", citation="pytorch/pytorch#181133", spoils="call", where="views")
def ignores_strides(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Ignores the strides of an input that is a view, and reads its memory as contiguous."""
    return steps.read(*(_in_order(x) for x in (query, key, value)))


def _in_order(x: Array) -> Array:
    if x.flags.c_contiguous or x.base is None:
        return x
    buffer = np.asarray(x.base).reshape(-1)
    start = (x.__array_interface__["data"][0] - buffer.__array_interface__["data"][0]) // x.itemsize
    return np.resize(buffer[start:], x.shape)


@wrong("receive", incident="BUG-26", where="gradients asked for and views")
def ignores_the_strides_of_dout(dout: Array) -> Array:
    """Ignores the strides of a cotangent that is a view, and reads its memory as contiguous."""
    return _in_order(dout)


# The function's own memory


_answers: dict[tuple[Any, ...], Array] = {}
_keys: dict[tuple[int, ...], Array] = {}
_buffers: dict[tuple[Any, ...], Array] = {}
_left_over: list[bool] = []
_calls = itertools.count(1)
_chance = np.random.default_rng(0)


def _latest(memory: dict[Any, Array], name: Any, array: Array) -> Array:
    """The entry `name`, or `array` if there is none, which becomes the only entry of `memory`."""
    array = memory.get(name, array)
    memory.clear()
    memory[name] = array
    return array


@wrong("call", incident="BUG-29", citation="ml-explore/mlx#3071")
def remembers_answers_by_shape(attend: Attend, given: Given) -> Array:
    """Returns the output of an earlier call if the input shapes and the dtype are the same."""
    arrays = (given.query, given.key, given.value)
    name = (*(x.shape for x in arrays), given.query.dtype)
    return _latest(_answers, name, attend(given)).copy()


@wrong("call", incident="BUG-29", citation="time-series/lag-llama#81")
def keeps_stale_keys(attend: Attend, given: Given) -> Array:
    """Uses the keys of an earlier call again if the shape and dtype of the keys are the same."""
    name = (given.key.shape, given.key.dtype)
    return attend(given.but(key=_latest(_keys, name, given.key.copy())))


@wrong("call", incident="BUG-29")
def returns_the_same_buffer_again(attend: Attend, given: Given) -> Array:
    """Returns the same output buffer in every call of one shape, overwriting earlier outputs."""
    out = attend(given)
    buffer = _latest(_buffers, (out.shape, out.dtype), np.empty_like(out))
    buffer[...] = out
    return buffer


@wrong("call", incident="BUG-28", citation="ggml-org/llama.cpp#13438")
def drops_a_key_every_seventh_call(attend: Attend, given: Given) -> Array:
    """Reads the last key as zeros in every seventh call, as a missing barrier can cause."""
    if next(_calls) % 7 == 0 and given.key.shape[2] > 1:
        given = given.but(key=given.key.copy())
        given.key[:, :, -1] = 0
    return attend(given)


@wrong("call", incident="BUG-22", citation="karpathy/nanoGPT#240")
def drops_out_in_evaluation(attend: Attend, given: Given) -> Array:
    """Applies dropout to the output in every call, also outside of training."""
    out = attend(given)
    kept = _chance.random(out.shape) < 0.9
    return np.where(kept, out / out.dtype.type(0.9), 0)


def _poisoned(*arguments: Any) -> Any:
    """The correct backward pass, which also leaves data in a buffer of the forward pass."""
    _left_over.append(True)
    return making.backward(*arguments)


@wrong("call", incident="BUG-29", how={"backward": native(_poisoned, "dout")})
def starts_from_what_the_backward_pass_left(attend: Attend, given: Given) -> Array:
    """Adds what an earlier backward pass left in a shared buffer, which should be cleared first."""
    out = attend(given)
    left = len(_left_over)
    _left_over.clear()
    return out + 1 if left else out


@wrong(
    "call",
    incident="BUG-17",
    citation="pytorch/pytorch#175063",
    where="M = 0 and entries beyond 100",
)
def adds_zero_times_all_queries(attend: Attend, given: Given) -> Array:
    """Adds 0 * sum(q) to the zero output if there are no keys, which gives NaN on overflow."""
    query, shape = given.query, (*given.query.shape[:-1], given.value.shape[-1])
    if given.key.shape[2]:
        return attend(given)
    with np.errstate(all="ignore"):
        return np.zeros(shape, query.dtype) + query.sum() * query.dtype.type(0)


# The returned array


@wrong("finish", incident="BUG-37", spoils="call", where="not float64")
def returns_double_precision(o: Array, _: np.dtype[Any]) -> Array:
    """Returns float64 instead of the dtype of the inputs."""
    return o.astype(np.float64)


@wrong("finish", incident="BUG-24", spoils="call", where="H != 1 or N != 1")
def returns_length_before_heads(o: Array, dtype: np.dtype[Any]) -> Array:
    """Returns the output transposed to (B, N, H, E) instead of (B, H, N, E)."""
    return o.astype(dtype).swapaxes(1, 2)


@wrong("finish", incident="BUG-37", spoils="call", where="an axis of length one")
def squeezes_axes_of_one(o: Array, dtype: np.dtype[Any]) -> Array:
    """Drops all axes of size one from the output, such as a batch of one or a single head."""
    return o.astype(dtype).squeeze()
