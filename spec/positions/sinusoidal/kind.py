"""Sinusoidal positions, as the engine asks for them."""

from spec.abilities import Conventions, Functions
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
    core=core,
    truth=truth.encoding,
    mistakes=mistakes.MISTAKES,
    load=plug.encoding,
    vocabulary=features.SINUSOIDAL,
    meanings=features.MEANINGS,
    functions=Functions(
        first="add",
        compares={"add": ("R8",), "table": ("R1",), "backward": ("R10",)},
        telltale={"table": "add"},
    ),
    conventions=Conventions(under=paired, telling=lambda dtype: {"pairing": (core(dtype),)}),
)
