"""Positions: which columns are paired is a convention, and so is who is charged by a bias.

A program that was plugged in can be asked anew under another choice; a record of plain
functions of a problem says itself what it follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from spec.backends import Unsuitable
from spec.entries import eighths
from spec.kind import Guarded, Kind, Recognised, anew
from spec.positions import CLAUSES
from spec.positions import truth as by_definition
from spec.positions.alibi.mistakes import MISTAKES as ALIBI_MISTAKES
from spec.positions.alibi.notation import LinearBias
from spec.positions.alibi.notation import Problem as BiasProblem
from spec.positions.alibi.plug import linear_bias
from spec.positions.pairing import PAIRINGS
from spec.positions.rotary.mistakes import MISTAKES as ROTARY_MISTAKES
from spec.positions.rotary.notation import Problem as RotaryProblem
from spec.positions.rotary.notation import Rotation
from spec.positions.rotary.plug import rotation
from spec.positions.sinusoidal.mistakes import MISTAKES as SINUSOIDAL_MISTAKES
from spec.positions.sinusoidal.notation import Encoding
from spec.positions.sinusoidal.notation import Problem as SinusoidalProblem
from spec.positions.sinusoidal.plug import encoding
from spec.trial import broken

Paired = Encoding | Rotation


def paired(record: Paired, declared: Mapping[str, str]) -> Paired:
    """The record, its columns being paired as declared.

    Raises Unsuitable for a record that was written by hand, and is paired in another way.
    """
    pairing = declared.get("pairing", record.chosen["pairing"])
    if pairing == record.chosen["pairing"]:
        return record
    if not _plugged_in(record.call):
        raise Unsuitable(f"--convention pairing={pairing}: {record.name} is a record already")
    there = {name: getattr(record, name) for name in record.functions}
    paired_anew = {n: anew(f, pairing=pairing) for n, f in there.items() if _plugged_in(f)}
    return record.but(**paired_anew, conventions={"pairing": pairing})


def _plugged_in(function: Any) -> bool:
    """Whether a function is the method of a program that can be paired anew."""
    return hasattr(getattr(function, "__self__", None), "pairing")


def pairing_by(number: str, small: Callable[[str], Any]) -> Recognised:
    """What finds another pairing that would make a wrong answer to a small problem right."""

    def recognised(
        raw: Paired, dtype: str, declared: Mapping[str, str], guard: Guarded
    ) -> Mapping[str, str]:
        def right(pairing: str) -> bool:
            record = guard(paired(raw, {"pairing": pairing}))
            return broken(CLAUSES[number], record, small(dtype)) is None

        chosen = {**raw.chosen, **declared}["pairing"]
        if not _plugged_in(raw.call) or right(chosen):
            return {}
        others = [other for other in PAIRINGS if other != chosen and right(other)]
        return {"pairing": others[0]} if others else {}

    return recognised


def charged(record: LinearBias, declared: Mapping[str, str]) -> LinearBias:
    """The record, held to what is declared of keys that lie ahead."""
    return record.but(conventions={**record.conventions, **declared})


def _tokens(dtype: str) -> SinusoidalProblem:
    """Three tokens in two texts, of width four."""
    return SinusoidalProblem(eighths(2, 3, 4, seed=1), eighths(2, 3, 4, seed=2), dtype=dtype)


def _queries(dtype: str) -> RotaryProblem:
    """Five tokens in two sequences, three heads of width four."""
    q, k, v, dout = (eighths(2, 3, 5, 4, seed=i) for i in range(4))
    return RotaryProblem(q, k, v, dout, np.tile(np.arange(5), (2, 1)), dtype=dtype)


SINUSOIDAL = Kind(
    about="sinusoidal",
    noun="an encoding of positions",
    definition="R1",
    first="add",
    core=_tokens,
    truth=by_definition.encoding,
    mistakes=SINUSOIDAL_MISTAKES,
    load=encoding,
    under=paired,
    recognised=pairing_by("R1", _tokens),
)
ROTARY = Kind(
    about="rotary",
    noun="a rotation by positions",
    definition="R14",
    first="rotate",
    core=_queries,
    truth=by_definition.rotation,
    mistakes=ROTARY_MISTAKES,
    load=rotation,
    under=paired,
    recognised=pairing_by("R14", _queries),
)
ALIBI = Kind(
    about="alibi",
    noun="a linear bias",
    definition="R34",
    first="bias",
    core=lambda dtype: BiasProblem(eighths(4, 3, 3), dtype=dtype),
    truth=by_definition.linear_bias,
    mistakes=ALIBI_MISTAKES,
    load=linear_bias,
    under=charged,
)
POSITIONS = (SINUSOIDAL, ROTARY, ALIBI)
