"""Rotary positions, as the engine asks for them."""

from collections.abc import Iterator

import numpy as np

from spec.abilities import WORDS, Causes, Conventions, Functions
from spec.entries import eighths
from spec.kind import Kind
from spec.positions import features, truth
from spec.positions.angles import BASE
from spec.positions.conventions import paired
from spec.positions.rotary import mistakes, plug
from spec.positions.rotary.domain import BASES
from spec.positions.rotary.notation import Problem
from spec.simplify import with_other_options


def core(dtype: str) -> Problem:
    """Five tokens in two sequences, three heads of width four."""
    q, k, v, dout = (eighths(2, 3, 5, 4, seed=i) for i in range(4))
    return Problem(q, k, v, dout, np.tile(np.arange(5), (2, 1)), dtype=dtype)


def twists(problem: Problem) -> Iterator[Problem]:
    """Other positions, in order and not, of all or each batch element; other bases and widths."""
    text, rows = np.arange(float(problem.N)), np.arange(float(problem.B))[:, None]
    for places in (text, text + 1, text + 300, text[::-1], 2 * text, text + rows):
        yield problem.but(positions=np.broadcast_to(places, (problem.B, problem.N)))
    yield from (problem.but(base=base) for base in (BASE, *BASES))
    yield from with_other_options(problem)


KIND = Kind(
    about="rotary",
    noun="a rotation by positions",
    sections={"R": "rotary"},
    problem=Problem,
    definition="R14",
    core=core,
    truth=truth.rotation,
    mistakes=mistakes.MISTAKES,
    load=plug.rotation,
    vocabulary=features.ROTARY,
    meanings=features.MEANINGS,
    functions=Functions(
        first="rotate",
        words={**WORDS, "place": "placed arrays"},
        compares={"rotate": ("R14",), "backward": ("R19",), "place": ("R29",)},
    ),
    conventions=Conventions(under=paired, telling=lambda dtype: {"pairing": (core(dtype),)}),
    causes=Causes(twists=twists),
)
