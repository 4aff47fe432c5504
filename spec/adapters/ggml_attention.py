"""ggml's attention on a CPU, as llama.cpp uses it: fused, by its reference, and in three steps.

Arrays are (batch, heads, length, width). Queries are float32 in ggml; keys and values have the
dtype of the inputs, as in a cache. The fused operation accepts only float16 masks. For ggml,
causality, windows and sequences are masks. Its parameter `max_bias` computes ALiBi slopes inside
the library.
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from spec.adapters.ggml_library import Graph, graph
from spec.notation import Array


def attend(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """query (B, H, N, D), key (B, G, M, D), value (B, G, M, E) give (B, H, N, E).

    This is ggml_flash_attn_ext, on one thread. Raises TypeError for float64, and for an additive
    mask that is not float16.
    """
    return _fused(query, key, value, attn_mask, scale, enable_gqa, softcap, sinks)


def threads(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """As `attend`, on four threads, which split the keys of a single query."""
    many = {"threads": 4}
    return _fused(query, key, value, attn_mask, scale, enable_gqa, softcap, sinks, **many)


def reference(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    softcap: float | None = None,
    sinks: Array | None = None,
) -> Array:
    """As `attend`, by the reference path of ggml (`set_use_ref`)."""
    held = {"reference": True}
    return _fused(query, key, value, attn_mask, scale, enable_gqa, softcap, sinks, **held)


def _fused(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None,
    scale: float | None,
    enable_gqa: bool,  # noqa: ARG001 - ggml always shares key heads
    softcap: float | None,
    sinks: Array | None,
    **how: Any,
) -> Array:
    """The output of the fused operation, with the options of `Graph.computed`."""
    (B, H, N, D), (M, E) = _sizes(query, key, value), value.shape[2:]
    with graph(query, key, value, scores=B * H * N * max(M, D, E)) as g:
        mask = None if attn_mask is None else g.put(_half(attn_mask, (N, M)))
        factor = 1 / sqrt(D) if scale is None else scale
        q, k, v = g.put(query.astype(_single(query))), g.put(key), g.put(value)
        out = g("flash_attn_ext", q, k, v, mask, factor, 0.0, softcap or 0.0)
        if sinks is not None:
            g.ggml.ggml_flash_attn_ext_add_sinks(out, g.put(sinks))
        g.computed(out, **how)
        return g.read(out, (B, N, H, E)).swapaxes(1, 2).astype(query.dtype)


def unfused(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001 - as above
    sinks: Array | None = None,
) -> Array:
    """The output of ggml_mul_mat, ggml_soft_max_ext and ggml_mul_mat.

    Shapes and errors are those of `attend`.
    """
    (B, H, N, D), (M, E) = _sizes(query, key, value), value.shape[2:]
    with graph(query, key, value, scores=B * H * N * max(M, D, E)) as g:
        if not M:
            raise ValueError("ggml takes a tensor without keys for a transposed one")
        inputs = [g.put(x) for x in (query.astype(_single(query)), key, value)]
        _, out = _in_steps(g, inputs, attn_mask, scale, sinks, (N, M, D))
        g.computed(out)
        return g.read(out, (B, H, N, E)).astype(query.dtype)


def weights(query: Array, key: Array, value: Array, **options: Any) -> Array:
    """The result of ggml_soft_max_ext.   (B, H, N, M)"""
    (B, H, N, D), M = query.shape, key.shape[2]
    with graph(query, key, value, scores=B * H * N * max(M, D)) as g:
        inputs = [g.put(x) for x in (query.astype(_single(query)), key, value)]
        mask, scale, sinks = (options.get(x) for x in ("attn_mask", "scale", "sinks"))
        a, _ = _in_steps(g, inputs, mask, scale, sinks, (N, M, D))
        g.computed(a)
        return g.read(a, (B, H, N, M)).astype(query.dtype)


def backward(
    dout: Array, query: Array, key: Array, value: Array, **options: Any
) -> tuple[Array, ...]:
    """dq, dk, dv, the gradients of sum(dout * out) by ggml_build_backward_expand."""
    (B, H, N, D), (M, E) = query.shape, value.shape[2:]
    if options.get("sinks") is not None or query.dtype != np.float32:
        raise NotImplementedError("ggml differentiates its softmax without sinks, in float32")
    if B > 1 and key.shape[1] != H:
        raise NotImplementedError("ggml asserts a batch of one where key heads are shared")
    with graph(query, key, value, scores=B * H * N * max(M, D, E), gradients=True) as g:
        inputs = [g.put(x) for x in (query, key, value)]
        for x in inputs:
            g.ggml.ggml_set_param(x)
        mask, scale = options.get("attn_mask"), options.get("scale")
        _, out = _in_steps(g, inputs, mask, scale, None, (N, M, D))
        loss = g("sum", g("mul", out, g.put(dout)))
        g.ggml.ggml_set_loss(loss)
        g.ggml.ggml_build_forward_expand(g.graph, loss)
        g("build_backward_expand", g.graph, None)
        g.ggml.ggml_graph_reset(g.graph)
        g.run()
        grads = [g.ggml.ggml_graph_get_grad(g.graph, x) for x in inputs]
        pairs = zip(grads, (query, key, value), strict=True)
        return tuple(g.read(dx, x.shape) for dx, x in pairs)


def _in_steps(
    g: Graph,
    inputs: list[Any],
    attn_mask: Array | None,
    scale: float | None,
    sinks: Array | None,
    sizes: tuple[int, int, int],
) -> tuple[Any, Any]:
    """The weights and the output, in separate operations."""
    q, k, v = inputs
    N, M, D = sizes
    mask = None if attn_mask is None else g.put(_numbers(attn_mask, (N, M)))
    factor = 1 / sqrt(D) if scale is None else scale
    a = g("soft_max_ext", g("mul_mat", k, q), mask, factor, 0.0)
    if sinks is not None:
        g.ggml.ggml_soft_max_add_sinks(a, g.put(sinks))
    return a, g("mul_mat", g("cont", g("transpose", v)), a)


def _sizes(query: Array, key: Array, value: Array) -> tuple[int, ...]:
    """B, H, N, D. Raises ValueError for sizes at which ggml ends the process or divides by zero."""
    (B, H), G = query.shape[:2], key.shape[1]
    if not (B and H and G) or H % G or query.shape[3] != key.shape[3]:
        raise ValueError(f"ggml does not survive {query.shape}, {key.shape}, {value.shape}")
    return query.shape


def _single(query: Array) -> Any:
    """The dtype of queries. Raises TypeError for float64."""
    if query.dtype == np.float64:
        raise TypeError("ggml has no attention for float64")
    return np.float32


def _numbers(attn_mask: Array, rows: tuple[int, int]) -> Array:
    """The mask as numbers to add, with all rows and keys.   (..., N, M)"""
    whole = np.broadcast_to(attn_mask, (*attn_mask.shape[:-2], *rows))
    return np.where(whole, 0, -np.inf).astype(np.float16) if whole.dtype == bool else whole


def _half(attn_mask: Array, rows: tuple[int, int]) -> Array:
    """The mask in float16. Raises TypeError for an additive mask of another dtype."""
    numbers = _numbers(attn_mask, rows)
    if numbers.dtype != np.float16:
        raise TypeError(f"ggml_flash_attn_ext takes a mask of float16, not {numbers.dtype}")
    return numbers


unfused.weights = weights  # type: ignore[attr-defined]
unfused.backward = backward  # type: ignore[attr-defined]
