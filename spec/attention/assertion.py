"""One assertion for a test that says `allclose` today."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from spec.attention import rounding
from spec.attention.notation import Corner, Problem
from spec.attention.options import MASK, PARAMETERS
from spec.attention.parameter import Parameter
from spec.attention.refusals import refuse_arrays
from spec.backends import library
from spec.comparison import equal
from spec.notation import HALF, Array, Grade


def assert_attention(
    out: Any,
    q: Any,
    k: Any,
    v: Any,
    *,
    rounded: Grade | None = None,
    corner: Corner = "top-left",
    window_corner: Corner | None = None,
    slopes_corner: Corner | None = None,
    in_text: bool = False,
    signed_slopes: bool = False,
    caps_bias: bool = False,
    fast_tanh: bool = False,
    merged: bool = False,
    **options: Any,
) -> None:
    """Raise AssertionError, with the worst place, unless `out` is the attention of q, k and v.

    Arrays of NumPy, torch or JAX, all (batch, heads, length, width); the dtype of
    `out` decides what rounding is allowed, eager rounding for 16 bits unless told otherwise.
    options: those of `spec.attention.options`, in any spelling (mask, is_causal, scale, ...).
    corner, window_corner, slopes_corner: of the diagonals where N is not M; the last two are as the
    first unless told otherwise.
    in_text: places are counted in each text that segments tell, and not in the array.
    signed_slopes: a key ahead gains what one behind loses.
    caps_bias: what a mask adds is capped as well. fast_tanh: the tangent of a cap is a rough one.
    merged: parts of the keys were normalised before they met.
    Raises TypeError for others, for one that is said twice and for what is no array; ValueError for
    what is no such option, and for shapes that do not go together.
    """
    dtype, got = _numbers(out)
    queries, keys, values = (_numbers(x)[1] for x in (q, k, v))
    asked: dict[str, Any] = {
        p.name: _numbers(x, p.whole)[1] if p.axes else x for p, x in _said(options)
    }
    mask, scale = asked.get("mask"), asked.get("scale")
    if scale is not None and not np.isfinite(scale):
        raise ValueError(f"a scale is a finite number, or None, not {scale!r}")
    refuse_arrays(queries, keys, values, mask)
    if mask is not None and mask.dtype == bool and {*MASK.added} & {*options}:
        raise ValueError("what is added to the scores is numbers, not truth values")
    problem = Problem(
        queries,
        keys,
        values,
        dout=np.zeros((*queries.shape[:3], values.shape[3])),
        dtype=dtype,
        rounding=rounded or ("eager" if dtype in HALF else "strict"),
        corner=corner,
        window_corner=window_corner,
        slopes_corner=slopes_corner,
        in_text=in_text,
        signed_slopes=signed_slopes,
        caps_bias=caps_bias,
        fast_tanh=fast_tanh,
        merged=merged,
        **asked,
    )
    equal(got, rounding.reference(problem).o, within=rounding.of_output(problem))


def _numbers(x: Any, whole: bool = False) -> tuple[str, Array]:
    """The dtype of an array of any library, and its numbers as float64, or bool.

    whole: as int64 where they are integers, and are to be.
    """
    module = type(x).__module__.partition(".")[0]
    name = {"torch": "torch", "jax": "jax", "jaxlib": "jax"}.get(module, "numpy")
    arrays = library(name)
    dtype = arrays.dtype_of(x)
    if dtype is None:
        raise TypeError(f"an array of NumPy, torch or JAX is wanted, not {type(x).__name__}")
    numbers = arrays.get(x)
    if "bool" in dtype:
        return dtype, numbers.astype(bool)
    return dtype, numbers.astype(np.int64) if whole and "int" in dtype else numbers


def _said(options: Mapping[str, Any]) -> Iterator[tuple[Parameter, Any]]:
    """What options of any spelling say, but for what the arrays tell.

    Raises TypeError: there is none of that name, or one is said twice.
    """
    known = {x: p for p in PARAMETERS for x in (*p.spellings, *p.added) if x not in p.own}
    names: dict[Parameter, str] = {}
    for name, x in options.items():
        if name not in known:
            raise TypeError(f"no option is called {name!r}: there are {', '.join(known)}")
        if x is None:
            continue
        if (first := names.setdefault(known[name], name)) != name:
            raise TypeError(f"{first!r} and {name!r} are two names of one option")
        if not known[name].told:
            yield known[name], x
