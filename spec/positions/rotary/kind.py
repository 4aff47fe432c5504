"""Rotary positions, as the engine asks for them."""

import numpy as np

from spec.entries import eighths
from spec.kind import Kind
from spec.positions import features, truth
from spec.positions.conventions import paired
from spec.positions.rotary import mistakes, plug
from spec.positions.rotary.notation import Problem


def core(dtype: str) -> Problem:
    """Five tokens in two sequences, three heads of width four."""
    q, k, v, dout = (eighths(2, 3, 5, 4, seed=i) for i in range(4))
    return Problem(q, k, v, dout, np.tile(np.arange(5), (2, 1)), dtype=dtype)


KIND = Kind(
    about="rotary",
    noun="a rotation by positions",
    problem=Problem,
    definition="R14",
    first="rotate",
    core=core,
    truth=truth.rotation,
    mistakes=mistakes.MISTAKES,
    load=plug.rotation,
    under=paired,
    telling=lambda dtype: {"pairing": core(dtype)},
    compares={"rotate": ("R14",), "backward": ("R19",), "place": ("R29",)},
    vocabulary=features.ROTARY,
)
