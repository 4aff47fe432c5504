"""Rotary positions inside a layer: queries and keys are turned once they are projected.

    q_h at place i becomes R(i) q_h,    k_h at place j becomes R(j) k_h    (`spec.positions.rotary`)

Places count from zero. Column c of a head is paired with its neighbour, or ("halves", as Llama
has it) with c + D/2. R is orthogonal, so gradients go back through R(-i).
"""

import numpy as np

from spec.attention.rounding.arithmetic import Arithmetic
from spec.layer.notation import LayerProblem
from spec.notation import Array
from spec.positions.angles import BASE, angles
from spec.positions.rotary import rounding
from spec.positions.rotary.definition import turned


def turn(problem: LayerProblem, x: Array, sign: int = 1) -> Array:
    """R(sign i) x_i, if the layer turns at all.   (B, H, L, D)"""
    if problem.turn == "none":
        return x

    there, back = _order(problem)
    by = sign * angles(np.arange(x.shape[2]), problem.D, BASE, x.dtype.type)
    return turned(x[..., there], by)[..., back]


def budget(problem: LayerProblem, rules: Arithmetic, x: Array, off: Array, sign: int = 1) -> Array:
    """How far R(sign i) x_i may stray where x may by `off`.   (B, H, L, D)"""
    if problem.turn == "none":
        return off

    there, back = _order(problem)
    silent = np.isinf(off)[..., there].astype(float)
    known = np.where(np.isinf(off), 0.0, off)[..., there]
    places = np.arange(x.shape[2])
    found = rounding.of_turn(x[..., there], known, places, BASE, sign, rules, problem.dtype)
    return np.where(rounding.turned(silent, problem.D) > 0, np.inf, found)[..., back]


def _order(problem: LayerProblem) -> tuple[Array, Array]:
    """The columns of a head with those of a pair side by side, and the way back."""
    columns = np.arange(problem.D)
    if problem.turn == "halves":
        columns = columns.reshape(2, -1).T.reshape(-1)
    return columns, np.argsort(columns)
