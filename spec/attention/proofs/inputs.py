"""Problems of attention without rounding: in fractions, and in symbols."""

from __future__ import annotations

import numpy as np

from spec.attention.notation import Problem
from spec.proving.exact import fractions
from spec.proving.formulas import Formulas, symbols


def exact(problem: Problem) -> Problem:
    """The same problem in fractions, its scores read in base 2.

    q, k, the scale and a mask have to make integer scores. A mask may stay in floats,
    and the scale has to be given, since most square roots are not rational.
    """
    arrays = {name: getattr(problem, name) for name in ("q", "k", "v", "dout")}
    return problem.but(**{name: fractions(array) for name, array in arrays.items()})


def symbolic(
    H: int = 1,
    G: int = 1,
    N: int = 2,
    M: int = 3,
    D: int = 2,
    E: int = 2,
    bias: bool = False,
    forbidden: tuple[tuple[int, int], ...] = (),
    causal: bool = False,
) -> Problem:
    """One batch of a problem in symbols; `forbidden` lists (query, key), for every head."""
    import sympy as sp

    mask = symbols("b", 1, H, N, M) if bias else np.zeros((1, 1, N, M), dtype=object)
    for i, j in forbidden:
        mask[..., i, j] = -np.inf
    return Problem(
        q=symbols("q", 1, H, N, D),
        k=symbols("k", 1, G, M, D),
        v=symbols("v", 1, G, M, E),
        dout=symbols("g", 1, H, N, E),
        mask=mask.view(Formulas),
        causal=causal,
        scale=sp.Symbol("scale", real=True),
    )
