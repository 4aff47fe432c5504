"""PyTorch: four dtypes, gradients by autograd, on the CPU or on a CUDA device.

The forward pass runs without autograd and the gradients with it, so that both
of the paths that people use are seen.
"""

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import Any

import numpy as np
import torch

from spec.backends.interpreting import quicken
from spec.backends.library import Library, Unsuitable, first_line
from spec.backends.memory import Laid
from spec.notation import DTYPES, Array
from spec.subject import NoGradient

FORMATS = {name: getattr(torch, name) for name in DTYPES}
LATER = ("torch.fx.experimental.symbolic_shapes",)  # imported by autograd, not by torch
COMPILERS = ("torch._dynamo", "torch._inductor.compile_fx")
NAMES = {dtype: name for name, dtype in FORMATS.items()}
OWN = (torch.Tensor, torch.nn.Parameter)  # a Parameter is a tensor that a module owns
DYNAMIC = {"static": False, "dynamic": True}
LIMITS = ("recompile_limit", "accumulated_recompile_limit")
OLDER = ("cache_size_limit", "accumulated_cache_size_limit")  # their names before torch 2.6


def library(device: str) -> Library:
    """PyTorch on `device`. Raises Unsuitable where there is no such device."""
    quicken()
    try:
        place = torch.empty(0, device=device).device
    except (RuntimeError, AssertionError) as error:
        raise Unsuitable(f"torch has no device {device!r} here: {first_line(error)}") from None
    return Library(
        name="torch",
        device=place.type,
        dtypes=DTYPES,
        put=lambda laid, dtype: put(laid, dtype, place),
        integers=lambda x: torch.from_numpy(x.astype(np.int64)).to(place),
        format=FORMATS.__getitem__,
        get=get,
        dtype_of=dtype_of,
        device_of=lambda x: str(x.device.type),
        running=running,
        differentiate=differentiate,
        recorded=recorded,
        copied=lambda buffer: buffer.detach().clone(),
        same=same,
        overlap=overlap,
        compilers={way: partial(compiler, dynamic=x) for way, x in DYNAMIC.items()},
        array=torch.Tensor,
    )


def put(laid: Laid, dtype: str, device: torch.device) -> tuple[Any, Any]:
    """The buffer on the device in `dtype` (truth values and integers stay so), and the view."""
    buffer = torch.from_numpy(laid.buffer)
    buffer = buffer.to(device, FORMATS[dtype] if buffer.is_floating_point() else buffer.dtype)
    if laid.strides is None:
        return buffer, buffer.view(laid.shape)
    return buffer, buffer.as_strided(laid.shape, laid.strides, laid.offset)


def get(x: Any) -> Array:
    """The numbers of a tensor, in memory of their own."""
    # As a tensor does it: one may carry an attribute that is called `detach`.
    return np.array(torch.Tensor.detach(x).to("cpu", torch.float64).numpy())


def dtype_of(x: Any) -> str | None:
    """The name of a tensor's dtype; None for anything else."""
    return NAMES.get(x.dtype, str(x.dtype)) if type(x) in OWN else None


@contextmanager
def running(dtype: str) -> Iterator[None]:  # noqa: ARG001 - every dtype runs alike
    """Without autograd, whatever the caller's mode is."""
    with torch.inference_mode(False), torch.no_grad():
        yield


def differentiate(function: Callable[..., Any], arrays: Sequence[Any], dout: Any) -> Sequence[Any]:
    """The gradient of <dout, function(arrays)> by each array, which keeps its strides.

    Where the function returns several, it is that of the sum, dout being one for each.
    """
    with torch.enable_grad():
        leaves = [x.detach().requires_grad_() for x in arrays]
        return by_leaves(function(*leaves), leaves, dout)


def by_leaves(out: Any, leaves: Sequence[Any], dout: Any) -> list[Any]:
    """The gradient of <dout, out> by each leaf. Raises NoGradient: autograd has none by any.

    By one leaf of several it is zeros where autograd has none: `out` does not depend on that
    leaf in training, which is right or wrong, and tested. By none there is no gradient
    at all, which is not the same as one of zeros.
    """
    several = zip(out, dout, strict=True) if isinstance(out, tuple) else ((out, dout),)
    recorded = [pair for pair in several if pair[0].requires_grad]
    found: Sequence[Any] = [None] * len(leaves)
    if recorded:
        outs, douts = zip(*recorded, strict=True)
        found = _pulled(outs, leaves, douts)
    if all(x is None for x in found):
        raise NoGradient("autograd has no gradient: what is returned does not depend on its inputs")
    pairs = zip(found, leaves, strict=True)
    return [torch.zeros_like(leaf) if x is None else x for x, leaf in pairs]


def _pulled(outs: Sequence[Any], leaves: Sequence[Any], douts: Sequence[Any]) -> Sequence[Any]:
    """The gradients by leaves, None where there is none.

    A checkpoint with use_reentrant=True, which training may use, refuses `torch.autograd.grad`,
    and does so when the graph behind it was freed: `backward` is called, as training calls it.
    """
    if not _checkpointed(outs):
        return torch.autograd.grad(outs, leaves, douts, allow_unused=True)
    kept = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    torch.autograd.backward(outs, douts)
    found = [leaf.grad for leaf in leaves]
    for leaf, grad in zip(leaves, kept, strict=True):
        leaf.grad = grad
    return found


def _checkpointed(outs: Sequence[Any]) -> bool:
    """Whether there is a checkpoint with use_reentrant=True in the graph of the results."""
    seen, ahead = set(), [out.grad_fn for out in outs]
    while ahead:
        node = ahead.pop()
        if node is None or node in seen:
            continue
        if node.name() == "CheckpointFunctionBackward":
            return True
        seen.add(node)
        ahead += [before for before, _ in node.next_functions]
    return False


def recorded(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """The result of the function if each of the arrays requires a gradient."""
    with torch.enable_grad():
        return function(*(x.detach().requires_grad_() for x in arrays))


def same(x: Any, y: Any) -> bool:
    """Whether two buffers hold the same bits."""
    # In one axis: one of length one may have a stride for which there is no view of bytes.
    bits = [torch.Tensor.detach(buffer).reshape(-1).view(torch.uint8) for buffer in (x, y)]
    return torch.equal(*bits)


def overlap(x: Any, buffer: Any) -> bool:
    """Whether a tensor lives in the memory of a buffer."""
    if 0 in x.shape or 0 in buffer.shape:
        return False
    places = [torch.Tensor.untyped_storage(one).data_ptr() for one in (x, buffer)]
    return bool(places[0] == places[1])


def compiler(program: Any, dynamic: bool) -> Any:
    """A function under torch.compile, or a class whose modules are. Raises Unsuitable."""
    if isinstance(program, type):
        return _of_modules(program, dynamic)
    with warnings.catch_warnings():  # what it imports for the first time warns of itself
        warnings.simplefilter("ignore")
        compiled: Callable[..., Any] = torch.compile(program, dynamic=dynamic)

    def run(*places: Any, **words: Any) -> Any:
        with unlimited():
            return compiled(*places, **words)

    return run


def _of_modules(kind: Any, dynamic: bool) -> Any:
    """The class whose objects are compiled as they are made: what they are called is theirs."""
    if not issubclass(kind, torch.nn.Module):
        what = f"{kind.__name__} is a class of other objects"
        raise Unsuitable(f"torch.compile is for functions and modules, and {what}")

    @functools.wraps(kind.__init__)
    def made(self: Any, *places: Any, **words: Any) -> None:
        kind.__init__(self, *places, **words)
        self.compile(dynamic=dynamic)

    def call(self: Any, *places: Any, **words: Any) -> Any:
        with unlimited():
            return kind.__call__(self, *places, **words)

    own = {"__init__": made, "__call__": call, "__doc__": kind.__doc__}
    named = {"__module__": kind.__module__, "__qualname__": kind.__qualname__}
    return type(kind)(kind.__name__, (kind,), {**own, **named})


def unlimited() -> AbstractContextManager[Any]:
    """Without the limit of programs, beyond which a function runs uncompiled, and nobody hears."""
    config = importlib.import_module("torch._dynamo.config")
    names = LIMITS if hasattr(config, LIMITS[0]) else OLDER
    many: AbstractContextManager[Any] = config.patch(dict.fromkeys(names, sys.maxsize))
    return many
