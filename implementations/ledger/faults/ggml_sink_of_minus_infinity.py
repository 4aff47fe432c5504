"""ggml of llama-cpp-python 0.3.36, CPU: a sink of -inf makes a fully masked row NaN.

A fully masked row alone returns 0 (S_inv is 0 where S is), and a sink of -inf alone is handled as
no sink. Together the maximum is -inf, and expf(-inf - -inf) is NaN, in every path of
ggml_flash_attn_ext. Here the mask hides the only key of one query: the result must be 0.
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
q = put(np.zeros((1, 1, 1, 1), np.float32))
k = put(np.zeros((1, 1, 1, 1), np.float32))
v = put(np.ones((1, 1, 1, 1), np.float32))
mask = put(np.full((1, 1, 1, 1), -np.inf, np.float16))
sink = put(np.full((1, 1, 1, 1), -np.inf, np.float32))
one, none = c.c_float(1), c.c_float(0)
out = P(call(base, "ggml_flash_attn_ext", P, context, q, k, v, mask, one, none, none))
call(base, "ggml_flash_attn_ext_add_sinks", None, out, sink)
graph = P(call(base, "ggml_new_graph", P, context))
call(base, "ggml_build_forward_expand", None, graph, out)
call(cpu, "ggml_graph_compute_with_ctx", c.c_int, context, graph, c.c_int(1))
got = c.cast(call(base, "ggml_get_data", P, out), c.POINTER(c.c_float))[0]
print(f"got {got}\nwant 0.0")
assert got == 0
