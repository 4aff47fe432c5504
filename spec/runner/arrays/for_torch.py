"""Arrays of PyTorch, with gradients by autograd."""

import functools
import importlib
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import torch
from torch.autograd.profiler import profile

from ..errors import Absent, NoGradient

NAMES = ("float64", "float32", "float16", "bfloat16")
FORMATS = {name: getattr(torch, name) for name in NAMES}
DTYPES = {dtype: name for name, dtype in FORMATS.items()}
OWN = (torch.Tensor, torch.nn.Parameter)  # a Parameter is a tensor that a module owns
LIMITS = ("recompile_limit", "accumulated_recompile_limit")
OLDER = ("cache_size_limit", "accumulated_cache_size_limit")  # their names before torch 2.6


class Torch:
    """PyTorch on one device."""

    name = "torch"
    ways: Mapping[str, bool] = {"static": False, "dynamic": True}

    def __init__(self, place: torch.device) -> None:
        self.place = place

    def placed(self, flat: Any, told: Any) -> tuple[Any, Any]:
        """The buffer and the view of an array that lies in the shared block."""
        wide = told["dtype"] == "bfloat16"
        buffer = torch.from_numpy(flat.view("i2") if wide else flat)
        buffer = (buffer.view(torch.bfloat16) if wide else buffer).to(self.place)
        if told["strides"] is None:
            return buffer, buffer.view(told["shape"])
        return buffer, buffer.as_strided(told["shape"], told["strides"], told["offset"])

    def told(self, x: Any) -> dict[str, Any] | None:
        """Format, shape and place of a tensor; None for anything else, a subclass among them."""
        name = dtype_of(x)
        if name is None:
            return None
        where = {"shape": tuple(x.shape), "device": x.device.type}
        return {"dtype": name, **where, "grad": x.requires_grad}

    def raw(self, x: Any) -> Any:
        """The numbers of a tensor; bfloat16 as its bits."""
        own = torch.Tensor.detach(x).to("cpu").contiguous()
        return (own.view(torch.int16) if own.dtype is torch.bfloat16 else own).numpy()

    @contextmanager
    def running(self, dtype: str) -> Iterator[None]:  # noqa: ARG002 - every dtype runs alike
        """Without autograd, whatever the mode is."""
        inference = torch.inference_mode(False) if torch.is_inference_mode_enabled() else None
        with inference or nullcontext(), torch.no_grad():
            yield

    def recording(self) -> AbstractContextManager[Any]:
        """The context in which gradients are recorded."""
        return torch.enable_grad()

    def overlap(self, x: Any, y: Any) -> bool:
        """Whether two tensors share memory."""
        if 0 in x.shape or 0 in y.shape:
            return False
        places = [torch.Tensor.untyped_storage(one).data_ptr() for one in (x, y)]
        return bool(places[0] == places[1])

    def integers(self, flat: Any) -> Any:
        """Whole numbers as a tensor of 64-bit integers."""
        return torch.from_numpy(flat.copy(order="C")).to(self.place)

    def recorded(self, call: Callable[..., Any], arrays: Sequence[Any]) -> tuple[Any, Any]:
        """The result of a call of leaves, and the leaves, by which it can be differentiated."""
        with torch.enable_grad():
            leaves = [x.detach().requires_grad_() for x in arrays]
            return call(*leaves), leaves

    def pulled(self, leaves: Any, outs: Sequence[Any], douts: Sequence[Any]) -> list[Any]:
        """The gradient of the sum of <dout, out> by each leaf. Raises NoGradient."""
        with torch.enable_grad():
            return by_leaves(outs, leaves, douts)

    def watched(self, call: Callable[[], Any], seen: set[str]) -> Any:
        """The result of a call; the functions of torch for attention that it made are added."""
        with profile(use_kineto=False) as made:
            result = call()
        seen |= {x.name for x in made.function_events or () if "attention" in x.name}
        return result

    def format(self, name: str) -> Any:
        """A format, as the library calls it."""
        return FORMATS[name]

    def state(self) -> Any:
        """The state of its own sources of random numbers."""
        gpu = [] if self.place.type == "cpu" else torch.cuda.get_rng_state_all()
        return torch.get_rng_state(), gpu

    def back(self, state: Any) -> None:
        """Give its own sources the state that they had."""
        torch.set_rng_state(state[0])
        if state[1]:
            torch.cuda.set_rng_state_all(state[1])

    def start(self, seed: int) -> None:
        """Start its own sources at a seed."""
        # Without CUDA, torch.manual_seed would note down for it where it was called from.
        on_cpu = self.place.type == "cpu"
        (torch.default_generator.manual_seed if on_cpu else torch.manual_seed)(seed)

    def generator(self, seed: int) -> Any:
        """A generator at a seed."""
        return torch.Generator(self.place).manual_seed(seed)

    def compiled(self, program: Any, way: str) -> Any:
        """A function under torch.compile, or a class whose modules are. Raises Absent."""
        return compiler(program, self.ways[way])


def dtype_of(x: Any) -> str | None:
    """The name of a tensor's dtype; None for anything else, a subclass among them."""
    return DTYPES.get(x.dtype, str(x.dtype)) if type(x) in OWN else None


def compiler(program: Any, dynamic: bool) -> Any:
    """A function under torch.compile, or a class whose modules are. Raises Absent."""
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
        raise Absent(f"torch.compile is for functions and modules, and {what}")

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


def by_leaves(outs: Sequence[Any], leaves: Sequence[Any], douts: Sequence[Any]) -> list[Any]:
    """The gradient of the sum of <dout, out> by each leaf. Raises NoGradient: there is none by any.

    By one leaf of several it is zeros where autograd has none: `out` does not depend on that
    leaf in training, which is right or wrong, and tested. By none there is no gradient
    at all, which is not the same as one of zeros.
    """
    pairs = [pair for pair in zip(outs, douts, strict=True) if pair[0].requires_grad]
    found: Sequence[Any] = [None] * len(leaves)
    if pairs:
        found = _pulled([out for out, _ in pairs], leaves, [dout for _, dout in pairs])
    if all(x is None for x in found):
        raise NoGradient("autograd has no gradient: what is returned does not depend on its inputs")
    both = zip(found, leaves, strict=True)
    return [torch.zeros_like(leaf) if x is None else x for x, leaf in both]


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


def library(device: str) -> Torch:
    """PyTorch on `device`. Raises Absent where there is no such device."""
    try:
        return Torch(torch.empty(0, device=device).device)
    except (RuntimeError, AssertionError) as error:
        line = (str(error).splitlines() or [""])[0]
        raise Absent(f"torch has no device {device!r} here: {line}") from None
