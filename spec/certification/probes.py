"""Small problems with which an attention function is tried out before anything is judged.

Sizes differ between axes, numbers are eighths, which every dtype has exactly, and each
problem is of one kind and of no other.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spec.implementation import Capability
from spec.notation import Array, Problem


def lattice(*shape: int, seed: int = 0) -> Array:
    """Eighths between -1 and 1, the same on every day; every dtype has them exactly."""
    return np.random.default_rng((seed, *shape)).integers(-8, 9, shape) / 8


def core(dtype: str, **sizes: int) -> Problem:
    """A small problem of the core: sizes differ between axes, except that E = D and G = H."""
    n = {"B": 2, "H": 3, "N": 4, "M": 5, "D": 2} | sizes
    n = {"G": n["H"], "E": n["D"]} | n
    return Problem(
        q=lattice(n["B"], n["H"], n["N"], n["D"], seed=1),
        k=lattice(n["B"], n["G"], n["M"], n["D"], seed=2),
        v=lattice(n["B"], n["G"], n["M"], n["E"], seed=3),
        dout=lattice(n["B"], n["H"], n["N"], n["E"], seed=4),
        dtype=dtype,
        rounding="strict" if dtype in ("float64", "float32") else "eager",
    )


def kinds(dtype: str) -> Mapping[Capability, tuple[Problem, ...]]:
    """For each kind of problem, some that are of that kind and of no other."""
    plain = core(dtype)
    mask = np.tri(4, 5, k=1, dtype=bool)
    bias = np.where(mask, lattice(4, 5), -np.inf)
    whole = np.broadcast_to(mask, (2, 3, 4, 5)).copy()
    zeros = ({"N": 0}, {"M": 0}, {"B": 0}, {"D": 0}, {"D": 0, "N": 0})
    return {
        Capability.MASK: (plain.but(mask=whole), plain.but(mask=mask)),
        Capability.BIAS: (
            plain.but(mask=np.where(whole, lattice(4, 5), -np.inf)),
            plain.but(mask=bias),
            plain.but(mask=lattice(4, 5)),
        ),
        Capability.CAUSAL: (core(dtype, N=5).but(causal=True), plain.but(causal=True)),
        Capability.MASK_AND_CAUSAL: (
            plain.but(mask=whole, causal=True),
            plain.but(mask=mask, causal=True),
            plain.but(mask=bias, causal=True),
        ),
        Capability.SCALE: (plain.but(scale=0.5),),
        Capability.GROUPS: (core(dtype, H=6, G=2),),
        Capability.WIDTHS: (core(dtype, E=3),),
        Capability.EMPTY: tuple(core(dtype, **sizes) for sizes in zeros),
        Capability.STRIDES: (plain.but(memory="strided"),),
    }
