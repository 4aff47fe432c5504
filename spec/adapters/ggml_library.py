"""The shared library of ggml in llama-cpp-python, and graphs of tensors that hold arrays.

A `Graph` is a ggml context with memory for its inputs and for its results. ggml counts axes from
the innermost one: an array (B, H, N, D) is a tensor of (D, N, H, B), with the same memory layout.
If an assertion of ggml fails, the process ends.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import POINTER, Structure, c_bool, c_byte, c_float, c_int, c_int64, c_size_t, c_void_p
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from spec.notation import Array

TYPES = {np.dtype(np.float32): 0, np.dtype(np.float16): 1}  # enum ggml_type
SCRATCH = 1 << 26  # bytes for the graph and for the work space of threads
COPIES = 24  # copies of the largest score matrix, for results and gradients
NODES = 512


class Parameters(Structure):
    """struct ggml_init_params."""

    _fields_ = [("mem_size", c_size_t), ("mem_buffer", c_void_p), ("no_alloc", c_bool)]


class Tensor(Structure):
    """The first fields of struct ggml_tensor, with the stride in bytes of each axis (nb)."""

    _fields_ = [("type", c_int), ("buffer", c_void_p), ("ne", c_int64 * 4), ("nb", c_size_t * 4)]


@cache
def library() -> Any:
    """The functions of ggml.h and of ggml-cpu.h, by name. Raises ImportError if ggml is missing."""
    found = find_spec("llama_cpp")
    if found is None or found.origin is None:
        raise ImportError("ggml comes with llama-cpp-python, which is not installed")
    folder = Path(found.origin).parent / "lib"
    base = ctypes.CDLL(str(folder / "libggml-base.so"), mode=ctypes.RTLD_GLOBAL)
    cpu = ctypes.CDLL(str(folder / "libggml-cpu.so"), mode=ctypes.RTLD_GLOBAL)
    cpu.ggml_cpu_init()
    functions = _declared(base, BASE) | _declared(cpu, CPU)
    return type("ggml", (), {name: staticmethod(f) for name, f in functions.items()})


T = c_void_p  # a tensor, a context, a graph, a backend
BASE: dict[str, tuple[Any, list[Any]]] = {
    "ggml_init": (T, [Parameters]),
    "ggml_free": (None, [T]),
    "ggml_new_tensor": (T, [T, c_int, c_int, POINTER(c_int64)]),
    "ggml_get_data": (T, [T]),
    "ggml_set_param": (None, [T]),
    "ggml_set_loss": (None, [T]),
    "ggml_flash_attn_ext": (T, [T, T, T, T, T, c_float, c_float, c_float]),
    "ggml_flash_attn_ext_add_sinks": (None, [T, T]),
    "ggml_mul_mat": (T, [T, T, T]),
    "ggml_soft_max_ext": (T, [T, T, T, c_float, c_float]),
    "ggml_soft_max_add_sinks": (None, [T, T]),
    "ggml_transpose": (T, [T, T]),
    "ggml_cont": (T, [T, T]),
    "ggml_mul": (T, [T, T, T]),
    "ggml_sum": (T, [T, T]),
    "ggml_new_graph_custom": (T, [T, c_size_t, c_bool]),
    "ggml_build_forward_expand": (None, [T, T]),
    "ggml_build_backward_expand": (None, [T, T, T]),
    "ggml_graph_reset": (None, [T]),
    "ggml_graph_get_grad": (T, [T, T]),
    "ggml_backend_graph_compute": (c_int, [T, T]),
    "ggml_backend_free": (None, [T]),
}
CPU: dict[str, tuple[Any, list[Any]]] = {
    "ggml_backend_cpu_init": (T, []),
    "ggml_backend_cpu_set_n_threads": (None, [T, c_int]),
    "ggml_backend_cpu_set_use_ref": (None, [T, c_bool]),
}


def _declared(loaded: Any, named: dict[str, tuple[Any, list[Any]]]) -> dict[str, Any]:
    """The functions of a library, with declared argument and result types."""
    functions = {name: getattr(loaded, name) for name in named}
    for name, (result, arguments) in named.items():
        functions[name].restype, functions[name].argtypes = result, arguments
    return functions


class Graph:
    """Tensors and operations on them, which `computed` evaluates."""

    def __init__(self, context: Any, gradients: bool) -> None:
        self.ggml, self.context = library(), context
        self.graph = self.ggml.ggml_new_graph_custom(context, NODES, gradients)

    def put(self, x: Array) -> Any:
        """A tensor that holds x. Raises TypeError if x is neither float32 nor float16."""
        if x.dtype not in TYPES:
            raise TypeError(f"ggml has no attention for {x.dtype}")
        shape = (c_int64 * 4)(*x.shape[::-1], *[1] * (4 - x.ndim))
        tensor = self.ggml.ggml_new_tensor(self.context, TYPES[x.dtype], 4, shape)
        x = np.ascontiguousarray(x)
        ctypes.memmove(self.ggml.ggml_get_data(tensor), x.ctypes.data, x.nbytes)
        return tensor

    def __call__(self, operation: str, *arguments: Any) -> Any:
        """The tensor that an operation of ggml.h returns."""
        return getattr(self.ggml, f"ggml_{operation}")(self.context, *arguments)

    def computed(self, *results: Any, threads: int = 1, reference: bool = False) -> None:
        """Compute the results and their inputs. Raises RuntimeError if ggml reports a failure."""
        for result in results:
            self.ggml.ggml_build_forward_expand(self.graph, result)
        self.run(threads, reference)

    def run(self, threads: int = 1, reference: bool = False) -> None:
        """Compute the graph as it is. Raises RuntimeError if ggml reports a failure."""
        backend = self.ggml.ggml_backend_cpu_init()
        self.ggml.ggml_backend_cpu_set_n_threads(backend, threads)
        self.ggml.ggml_backend_cpu_set_use_ref(backend, reference)
        status = self.ggml.ggml_backend_graph_compute(backend, self.graph)
        self.ggml.ggml_backend_free(backend)
        if status:
            raise RuntimeError(f"ggml returned {status}")

    def read(self, tensor: Any, shape: tuple[int, ...]) -> Array:
        """The numbers of a float32 tensor as an array of our axis order, for any memory layout."""
        if not np.prod(shape):
            return np.zeros(shape, np.float32)
        strides = Tensor.from_address(tensor).nb[::-1][-len(shape) :]
        octets = sum((n - 1) * s for n, s in zip(shape, strides, strict=True)) + 4
        held = (c_byte * octets).from_address(self.ggml.ggml_get_data(tensor))
        return np.ndarray(shape, np.float32, held, strides=tuple(strides)).copy()


@contextmanager
def graph(*arrays: Array, scores: int, gradients: bool = False) -> Iterator[Graph]:
    """A graph with memory for the arrays, and for results computed from `scores` scores."""
    octets = SCRATCH + COPIES * (sum(4 * x.size for x in arrays) + 4 * scores)
    context = library().ggml_init(Parameters(octets, None, False))
    try:
        yield Graph(context, gradients)
    finally:
        library().ggml_free(context)
