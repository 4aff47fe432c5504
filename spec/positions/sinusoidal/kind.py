"""Sinusoidal positions, as the engine asks for them."""

from spec.entries import eighths
from spec.kind import Kind
from spec.positions import features, truth
from spec.positions.conventions import paired
from spec.positions.sinusoidal import mistakes, plug
from spec.positions.sinusoidal.notation import Problem


def core(dtype: str) -> Problem:
    """Three tokens in two texts, of width four."""
    return Problem(eighths(2, 3, 4, seed=1), eighths(2, 3, 4, seed=2), dtype=dtype)


KIND = Kind(
    about="sinusoidal",
    noun="an encoding of positions",
    sections={"R": "sinusoidal"},
    problem=Problem,
    definition="R1",
    first="add",
    core=core,
    truth=truth.encoding,
    mistakes=mistakes.MISTAKES,
    load=plug.encoding,
    under=paired,
    telling=lambda dtype: {"pairing": (core(dtype),)},
    compares={"add": ("R8",), "table": ("R1",), "backward": ("R10",)},
    telltale={"table": "add"},
    vocabulary=features.SINUSOIDAL,
    meanings=features.MEANINGS,
)
