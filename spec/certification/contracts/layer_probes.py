"""Small problems with which a layer is tried out before anything is judged."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from spec.certification.contracts.contract import Problems
from spec.certification.probes import lattice
from spec.layer import moves
from spec.layer.notation import LayerProblem, Parameters
from spec.layer.record import Capability


def core(dtype: str, K: int = 6, V: int = 6, biased: bool = True) -> LayerProblem:
    """A small problem of the core; lengths differ, widths do not."""
    B, H, N, M, A = 2, 3, 4, 5, 6
    biases = [lattice(A, seed=10 + i) for i in range(4)] if biased else []
    return LayerProblem(
        query=lattice(B, N, A, seed=1),
        key=lattice(B, M, K, seed=2),
        value=lattice(B, M, V, seed=3),
        dout=lattice(B, N, A, seed=4),
        parameters=Parameters(
            lattice(A, A, seed=5),
            lattice(A, K, seed=6),
            lattice(A, V, seed=7),
            lattice(A, A, seed=8),
            *biases,
        ),
        heads=H,
        dtype=dtype,
        rounding="strict" if dtype in ("float64", "float32") else "eager",
    )


def kinds(dtype: str) -> Mapping[str, Problems]:
    """For each kind of problem, some that are of that kind and, where it can be, of no other."""
    plain = core(dtype)
    hidden = ~np.tri(4, 5, k=1, dtype=bool)
    bias = np.where(hidden, -np.inf, lattice(4, 5))
    of_heads = np.broadcast_to(hidden, (6, 4, 5)).copy()
    padding = np.arange(5) >= np.array([[5], [3]])
    return {
        Capability.MASK: (plain.but(mask=hidden),),
        Capability.BIAS: (plain.but(mask=bias), plain.but(mask=lattice(4, 5))),
        Capability.CAUSAL: (plain.but(causal=True),),
        Capability.PADDING: (plain.but(padding=padding),),
        Capability.HEAD_MASK: (
            plain.but(mask=of_heads),
            plain.but(mask=np.broadcast_to(bias, (6, 4, 5)).copy()),
        ),
        Capability.WIDTHS: (core(dtype, K=5, V=7),),
        Capability.UNBIASED: (core(dtype, biased=False),),
        Capability.UNBATCHED: (moves.of_batch(plain, 0).but(batched=False),),
    }


def trials(dtype: str) -> Mapping[str, tuple[str, Problems]]:
    """Functions that may refuse even the core, and what they are tried on."""
    plain = core(dtype)
    asking = (plain.but(asks="mean"), plain.but(asks="heads"))
    return {
        "backward": (Capability.GRADIENTS, (plain,)),
        "weights": (Capability.WEIGHTS, asking),
        "step": (Capability.STEP, (plain,)),
        "state": (Capability.STATE, (plain,)),
    }
