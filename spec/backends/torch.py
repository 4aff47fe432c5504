"""PyTorch in this process: four dtypes, gradients by autograd, on the CPU or on a CUDA device.

The forward pass runs without autograd and the gradients with it, so that both
of the paths that people use are seen.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

from spec.backends.interpreting import quicken
from spec.backends.library import Library, Unsuitable
from spec.backends.memory import Laid
from spec.notation import DTYPES, Array
from spec.runner import errors
from spec.runner.arrays import for_torch
from spec.runner.arrays.for_torch import FORMATS
from spec.subject import NoGradient

LATER = ("torch.fx.experimental.symbolic_shapes",)  # imported by autograd, not by torch
COMPILERS = ("torch._dynamo", "torch._inductor.compile_fx")


def library(device: str) -> Library:
    """PyTorch on `device`. Raises Unsuitable where there is no such device."""
    quicken()
    try:
        arrays = for_torch.library(device)
    except errors.Absent as reason:
        raise Unsuitable(str(reason)) from None
    return Library(
        name="torch",
        device=arrays.place.type,
        dtypes=DTYPES,
        put=lambda laid, dtype: put(laid, dtype, arrays.place),
        integers=lambda x: torch.from_numpy(x.astype(np.int64)).to(arrays.place),
        format=FORMATS.__getitem__,
        get=get,
        dtype_of=for_torch.dtype_of,
        device_of=lambda x: str(x.device.type),
        running=arrays.running,
        differentiate=partial(differentiate, arrays),
        recorded=lambda function, inputs: arrays.recorded(function, inputs)[0],
        copied=lambda buffer: buffer.detach().clone(),
        same=same,
        overlap=arrays.overlap,
        compilers={way: partial(compiled, arrays, way=way) for way in arrays.ways},
        laid=laid,
        array=torch.Tensor,
        chance=arrays,
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


def laid(x: Any) -> Laid | None:
    """How a tensor lies in its storage; None if it is all of that, in order."""
    if type(x) is not torch.Tensor:
        return None
    size = x.untyped_storage().nbytes() // x.element_size()
    if size == x.numel() and x.is_contiguous():
        return None
    buffer = get(x.detach().as_strided((size,), (1,), 0))
    return Laid(buffer, tuple(x.shape), x.stride(), int(x.storage_offset()))


def differentiate(
    arrays: for_torch.Torch, function: Callable[..., Any], inputs: Sequence[Any], dout: Any
) -> Sequence[Any]:
    """The gradient of <dout, function(inputs)> by each input, which keeps its strides.

    Where the function returns several, it is that of the sum, dout being one for each.
    """
    out, leaves = arrays.recorded(function, inputs)
    return by_leaves(out, leaves, dout)


def by_leaves(out: Any, leaves: Sequence[Any], dout: Any) -> list[Any]:
    """The gradient of <dout, out> by each leaf. Raises NoGradient: autograd has none by any."""
    outs, douts = (out, dout) if isinstance(out, tuple) else ((out,), (dout,))
    try:
        with torch.enable_grad():
            return for_torch.by_leaves(outs, leaves, douts)
    except errors.NoGradient as reason:
        raise NoGradient(str(reason)) from None


def same(x: Any, y: Any) -> bool:
    """Whether two buffers hold the same bits."""
    # In one axis: one of length one may have a stride for which there is no view of bytes.
    bits = [torch.Tensor.detach(buffer).reshape(-1).view(torch.uint8) for buffer in (x, y)]
    return torch.equal(*bits)


def compiled(arrays: for_torch.Torch, program: Any, way: str) -> Any:
    """A function under torch.compile, or a class whose modules are. Raises Unsuitable."""
    try:
        return arrays.compiled(program, way)
    except errors.Absent as reason:
        raise Unsuitable(str(reason)) from None
