"""ggml of llama-cpp-python 0.3.36, CPU: ggml_flash_attn_ext of an empty batch divides by zero.

The factors for broadcasting are quotients of batch sizes (neq3 / nek3), and 0 / 0 ends the process
with SIGFPE. An empty result would be correct: other operations skip empty tensors.
"""

import ctypes as c
from pathlib import Path

import llama_cpp
import numpy as np

folder = Path(llama_cpp.__file__).parent / "lib"
base = c.CDLL(str(folder / "libggml-base.so"), c.RTLD_GLOBAL)
cpu = c.CDLL(str(folder / "libggml-cpu.so"), c.RTLD_GLOBAL)
P, L = c.c_void_p, c.c_int64


class Parameters(c.Structure):
    """struct ggml_init_params."""

    _fields_ = [("size", c.c_size_t), ("buffer", P), ("no_alloc", c.c_bool)]


def call(library, name, result, *arguments):
    """The result of a function of ggml."""
    function = getattr(library, name)
    function.restype = result
    return function(*arguments)


def put(x):
    """A tensor that holds an array."""
    kind = c.c_int({"float32": 0, "float16": 1}[x.dtype.name])
    t = call(base, "ggml_new_tensor_4d", P, context, kind, *map(L, x.shape[::-1]))
    c.memmove(call(base, "ggml_get_data", P, P(t)), x.ctypes.data, x.nbytes)
    return P(t)


context = P(call(base, "ggml_init", P, Parameters(1 << 26, None, False)))
q = put(np.zeros((0, 1, 1, 1), np.float32))
k = put(np.zeros((0, 1, 1, 1), np.float32))
v = put(np.ones((0, 1, 1, 1), np.float32))
one, none = c.c_float(1), c.c_float(0)
out = P(call(base, "ggml_flash_attn_ext", P, context, q, k, v, None, one, none, none))
graph = P(call(base, "ggml_new_graph", P, context))
call(base, "ggml_build_forward_expand", None, graph, out)
status = call(cpu, "ggml_graph_compute_with_ctx", c.c_int, context, graph, c.c_int(1))
print(f"got {status}\nwant 0")
assert status == 0
