"""ggml of llama-cpp-python 0.3.36, CPU: ggml_flash_attn_ext adds up float16 values in float16.

With V in float16, fewer than 64 queries, and no split of the keys among threads, the sum of weights
times values is kept in float16 until it is divided (VKQ16 in
ggml_compute_forward_flash_attn_ext_f16_one_chunk), although the dispatch says "uses F32
accumulators". Such a sum stops growing once its spacing is twice the next term, and it overflows
from 65504 on. Here one query attends to 4096 equal keys whose values are all 1: the mean is 1, and
the result is 2048 / 4096. With 64 queries, with four threads (one query), or with K and V in
float32 it is 1.
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
k = put(np.zeros((1, 1, 4096, 1), np.float16))
v = put(np.ones((1, 1, 4096, 1), np.float16))
one, none = c.c_float(1), c.c_float(0)
out = P(call(base, "ggml_flash_attn_ext", P, context, q, k, v, None, one, none, none))
graph = P(call(base, "ggml_new_graph", P, context))
call(base, "ggml_build_forward_expand", None, graph, out)
call(cpu, "ggml_graph_compute_with_ctx", c.c_int, context, graph, c.c_int(1))
got = c.cast(call(base, "ggml_get_data", P, out), c.POINTER(c.c_float))[0]
print(f"got {got}\nwant 1.0")
assert got == 1
