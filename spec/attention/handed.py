"""The arguments of `assert_attention` as numbers and options of ours."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from spec.attention.options import MASK, PARAMETERS
from spec.attention.parameter import Parameter
from spec.attention.plug.layouts import LAYOUTS, Layout
from spec.backends import library
from spec.backends.unknown import hint
from spec.formats import FORMATS
from spec.notation import Array

# Of arrays whose keys are in no pages, and whose sequences are not packed.
PLAIN = {name: form for name, form in LAYOUTS.items() if not form.packs and form.pages is None}
OF_INTEGERS = (
    "a mask of integers is ambiguous: pass booleans, where True lets a query attend to a key, or "
    "floating-point numbers, which are added to the scores"
)
NO_BOUND = "no bound can be derived; pass zeros for keys and values that no query attends to"


def numbers(x: Any, whole: bool = False) -> tuple[str, Array]:
    """The dtype of an array of any library, and its numbers as float64, or bool.

    whole: as int64 where they are integers, and are to be. Raises TypeError: it is no array.
    """
    __tracebackhide__ = True
    module = type(x).__module__.partition(".")[0]
    name = {"torch": "torch", "jax": "jax", "jaxlib": "jax"}.get(module, "numpy")
    arrays = library(name)
    dtype = arrays.dtype_of(x)
    if dtype is None:
        several = ": pass the output alone, out[0]" if isinstance(x, tuple) else ""
        wanted = f"an array of NumPy, torch or JAX is wanted, not {type(x).__name__}"
        raise TypeError(f"{wanted}{several}")
    found = arrays.get(x)
    if "bool" in dtype:
        return dtype, found.astype(bool)
    return dtype, found.astype(np.int64) if whole and "int" in dtype else found


def floating(name: str, x: Any) -> tuple[str, Array]:
    """The same of an array of a format that has bounds. Raises TypeError: of another dtype."""
    __tracebackhide__ = True
    dtype, found = numbers(x)
    if dtype not in FORMATS:
        raise TypeError(f"{name} is {dtype.rpartition('.')[2]}, want {' or '.join(FORMATS)}")
    return dtype, found


def finite(name: str, x: Any) -> tuple[str, Array]:
    """The same of an input. Raises ValueError: of an infinite or undefined number."""
    __tracebackhide__ = True
    dtype, found = floating(name, x)
    if not np.isfinite(found).all():
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(found))[0])
        raise ValueError(f"{name} is {found[at]} at {at}: {NO_BOUND}")
    return dtype, found


def said(options: Mapping[str, Any]) -> Iterator[tuple[Parameter, Any]]:
    """The options, in any spelling, by our parameters; without those that the arrays tell.

    Raises TypeError: there is none of that name, or one has two names.
    """
    __tracebackhide__ = True
    known = {x: p for p in PARAMETERS for x in (*p.spellings, *p.added) if x not in p.own}
    names: dict[Parameter, str] = {}
    for name, x in options.items():
        if name not in known:
            listed = f"there are {', '.join(known)}{hint(name, known)}"
            raise TypeError(f"no option is called {name!r}: {listed}")
        if x is None:
            continue
        if (first := names.setdefault(known[name], name)) != name:
            raise TypeError(f"{first!r} and {name!r} are two names of one option")
        if not known[name].told:
            yield known[name], x


def checked(asked: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Raise TypeError or ValueError for values of options that would be read as others."""
    __tracebackhide__ = True
    causal, mask, scale = (asked.get(name) for name in ("causal", "mask", "scale"))
    if causal is not None and not isinstance(causal, bool | np.bool_):
        told = 'the alignment is a convention: conventions={"causal": "bottom-right"}'
        raise TypeError(f"causality is {causal!r}, want True or False; {told}")
    if scale is not None and (isinstance(scale, str) or not np.isfinite(scale)):
        raise ValueError(f"a scale is a finite number, or None, not {scale!r}")
    if any(_integers(options[name]) for name in MASK.spellings + MASK.added if name in options):
        raise TypeError(OF_INTEGERS)
    if mask is not None and mask.dtype == bool and {*MASK.added} & {*options}:
        raise ValueError("what is added to the scores is numbers, not truth values")


def _integers(mask: Any) -> bool:
    """Whether a mask has integers, such as 0 and 1, which other programs read as booleans."""
    return "int" in str(getattr(mask, "dtype", ""))


def layout_of(name: str) -> Layout:
    """The layout of that name. Raises ValueError: there is none."""
    __tracebackhide__ = True
    if name not in PLAIN:
        raise ValueError(f"unknown layout {name!r}: choose from {', '.join(PLAIN)}")
    return PLAIN[name]


def ours(x: Array, layout: Layout) -> Array:
    """An array of that layout as (batch, heads, length, width), if it has as many axes."""
    if x.ndim != layout.axes:
        return x
    return x.reshape((1,) * (4 - x.ndim) + x.shape).transpose(np.argsort(layout.order))


def theirs(x: Array, layout: Layout) -> Array:
    """An array (batch, heads, length, width) as that layout has it; of one sequence, if need be."""
    moved = x.transpose(layout.order)
    return moved.reshape(moved.shape[4 - layout.axes :])
