"""Arrays to and from the libraries that implementations are written in.

    from spec.backends import library
    library("torch", "cpu")     # how its arrays are made, read and differentiated

A library is imported only when a target needs it. `calling`: how programs take them.
"""

import importlib
from contextlib import suppress
from inspect import unwrap
from typing import Any

from spec.backends.library import Elsewhere, Library, Unsuitable
from spec.backends.unknown import unknown
from spec.runner.inference import NAMES, inferred

__all__ = ["NAMES", "Unsuitable", "inferred", "known", "library", "likely", "prepared"]


def likely(target: Any) -> tuple[str, ...]:
    """The libraries that a target may be written for, the likeliest first; never empty."""
    return target.libraries if isinstance(target, Elsewhere) else inferred(target)


def library(name: str, device: str = "cpu", target: Any = None) -> Library:
    """The array library `name` on `device`, here or where a target is.

    Raises Unsuitable: an unknown or absent library, or a device that is not there.
    """
    if name not in NAMES:
        raise unknown("backend", name, NAMES)
    if isinstance(target := unwrap(target), Elsewhere):
        return target.library(name, device)
    try:
        module = importlib.import_module(f"{__name__}.{name}")
    except (ImportError, AttributeError) as error:  # of another module that is called so
        raise Unsuitable(f"the {name} backend cannot be loaded: {error}") from None
    found: Library = module.library(device)
    return found


def prepared(name: str, compiles: bool = False) -> None:
    """Import a library, if it is there, and what it imports itself once it is used."""
    with suppress(ImportError):
        module = importlib.import_module(f"{__name__}.{name}")
        compilers = getattr(module, "COMPILERS", ()) if compiles else ()
        for later in (*getattr(module, "LATER", ()), *compilers):
            importlib.import_module(later)


def known(dtypes: tuple[str, ...], arrays: Library) -> tuple[str, ...]:
    """`dtypes`, once the library has them all. Raises Unsuitable otherwise."""
    for dtype in dtypes:
        if dtype not in arrays.dtypes:
            whose = arrays.whose or f"the {arrays.title} backend"
            raise Unsuitable(f"{whose} has no {dtype}: it has {', '.join(arrays.dtypes)}")
    return dtypes
