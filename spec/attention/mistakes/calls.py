"""The call as its caller sees it: inputs left alone, fresh memory, and no memory of the past.

The numbers of a first call are right in nearly all of these, and so is any test
that makes one call with fresh contiguous arrays.
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

# Memory of the caller


@wrong("call", incident="plausible")
def scales_queries_in_place(attend: Attend, given: Given) -> Array:
    """Writes `query *= scale`, and the queries are the caller's."""
    query, sigma = given.query, default_scale(Sizes.of(given.query, given.key, given.value))
    if query.flags.writeable:
        query *= query.dtype.type(sigma if given.scale is None else given.scale)
        given = given.but(scale=1.0)
    return attend(given)


@wrong("call", incident="plausible", where="a watched call asked for and a mask")
def writes_into_the_mask(attend: Attend, given: Given) -> Array:
    """Prepares the mask in place, once the answer is on its way."""
    out, mask = attend(given), given.attn_mask
    if mask is not None and mask.flags.writeable:
        mask[...] = ~mask if mask.dtype == bool else np.maximum(mask, np.finfo(mask.dtype).min) - 1
    return out


@wrong("call", incident="plausible")
def returns_the_values_themselves(attend: Attend, given: Given) -> Array:
    """Returns the caller's own array where there is one key, whose weight is 1."""
    value = given.value
    alike = value.shape == (*given.query.shape[:-1], value.shape[-1])
    one = given.key.shape[2] == 1 and alike and given.attn_mask is None
    return value if one else attend(given)


@wrong("read", incident="I26", citation="pytorch/pytorch#181133", spoils="call", where="views")
def ignores_strides(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
    """Reads the memory behind a view in order, as if it were contiguous."""
    return steps.read(*(_in_order(x) for x in (query, key, value)))


def _in_order(x: Array) -> Array:
    if x.flags.c_contiguous or x.base is None:
        return x
    buffer = np.asarray(x.base).reshape(-1)
    start = (x.__array_interface__["data"][0] - buffer.__array_interface__["data"][0]) // x.itemsize
    return np.resize(buffer[start:], x.shape)


@wrong("receive", incident="I26", where="gradients asked for and views")
def ignores_the_strides_of_dout(dout: Array) -> Array:
    """Reads the memory behind a cotangent in order, as if it were contiguous."""
    return _in_order(dout)


# Memory of the callee


_answers: dict[tuple[Any, ...], Array] = {}
_keys: dict[tuple[int, ...], Array] = {}
_buffers: dict[tuple[Any, ...], Array] = {}
_left_over: list[bool] = []
_calls = itertools.count(1)
_chance = np.random.default_rng(0)


def _latest(memory: dict[Any, Array], name: Any, array: Array) -> Array:
    """What is remembered under `name`, and `array` if that is nothing; the rest is forgotten."""
    array = memory.get(name, array)
    memory.clear()
    memory[name] = array
    return array


@wrong("call", incident="I29", citation="ml-explore/mlx#3071")
def remembers_answers_by_shape(attend: Attend, given: Given) -> Array:
    """Caches the last answer under a key too weak: the shapes of the inputs."""
    arrays = (given.query, given.key, given.value)
    name = (*(x.shape for x in arrays), given.query.dtype)
    return _latest(_answers, name, attend(given)).copy()


@wrong("call", incident="I29", citation="time-series/lag-llama#81")
def keeps_stale_keys(attend: Attend, given: Given) -> Array:
    """Keeps the keys of the last call in a cache that nobody resets."""
    name = (given.key.shape, given.key.dtype)
    return attend(given.but(key=_latest(_keys, name, given.key.copy())))


@wrong("call", incident="I29")
def returns_the_same_buffer_again(attend: Attend, given: Given) -> Array:
    """Allocates its output once for each shape, and so overwrites the last answer."""
    out = attend(given)
    buffer = _latest(_buffers, (out.shape, out.dtype), np.empty_like(out))
    buffer[...] = out
    return buffer


@wrong("call", incident="I28", citation="ggml-org/llama.cpp#13438")
def drops_a_key_every_seventh_call(attend: Attend, given: Given) -> Array:
    """Lacks a barrier, so that now and then the last key comes too late."""
    if next(_calls) % 7 == 0 and given.key.shape[2] > 1:
        given = given.but(key=given.key.copy())
        given.key[:, :, -1] = 0
    return attend(given)


@wrong("call", incident="I22", citation="karpathy/nanoGPT#240")
def drops_out_in_evaluation(attend: Attend, given: Given) -> Array:
    """Applies dropout to the output although nobody is training."""
    out = attend(given)
    kept = _chance.random(out.shape) < 0.9
    return np.where(kept, out / out.dtype.type(0.9), 0)


def _poisoned(*arguments: Any) -> Any:
    """The right backward pass, which leaves something behind for the forward pass."""
    _left_over.append(True)
    return making.backward(*arguments)


@wrong("call", incident="I29", how={"backward": native(_poisoned, "dout")})
def starts_from_what_the_backward_pass_left(attend: Attend, given: Given) -> Array:
    """Shares a buffer between the passes, and does not clear it before the next forward pass."""
    out = attend(given)
    left = len(_left_over)
    _left_over.clear()
    return out + 1 if left else out


@wrong(
    "call", incident="I17", citation="pytorch/pytorch#175063", where="M = 0 and entries beyond 100"
)
def adds_zero_times_all_queries(attend: Attend, given: Given) -> Array:
    """Returns zeros and 0 (sum q) where there are no keys, for the sake of derivatives."""
    query, shape = given.query, (*given.query.shape[:-1], given.value.shape[-1])
    if given.key.shape[2]:
        return attend(given)
    with np.errstate(all="ignore"):
        return np.zeros(shape, query.dtype) + query.sum() * query.dtype.type(0)


# What is returned


@wrong("finish", incident="I37", spoils="call", where="not float64")
def returns_double_precision(o: Array, _: np.dtype[Any]) -> Array:
    """Returns float64 whatever it was given."""
    return o.astype(np.float64)


@wrong("finish", incident="I24", spoils="call", where="H != 1 or N != 1")
def returns_length_before_heads(o: Array, dtype: np.dtype[Any]) -> Array:
    """Transposes the output for the projection that is to follow: (B, N, H, E)."""
    return o.astype(dtype).swapaxes(1, 2)


@wrong("finish", incident="I37", spoils="call", where="an axis of one")
def squeezes_axes_of_one(o: Array, dtype: np.dtype[Any]) -> Array:
    """Drops the axes of size one, the batch and the head of every small example."""
    return o.astype(dtype).squeeze()
