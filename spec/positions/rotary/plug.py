"""The record of an ordinary program that rotates by positions."""

from collections.abc import Callable
from typing import Any

import numpy as np

from spec.backends.library import Library
from spec.backends.unknown import unknown
from spec.positions.angles import BASE
from spec.positions.calling import made
from spec.positions.conventions import Turning
from spec.positions.pairing import PAIRINGS
from spec.positions.record import Capability
from spec.positions.rotary.notation import Problem, Rotation
from spec.subject import Refused, not_offered

ANSWERS = {
    "first": (Capability.OFFSET,),
    "positions": (Capability.OFFSET, Capability.POSITIONS, Capability.ROWS_OF_POSITIONS),
    "base": (Capability.BASE,),
    "width": (Capability.PARTIAL_ROTATION,),
}


def rotation(target: Callable[..., Any], *, layout: str = "bhld", **how: Any) -> Rotation:
    """The record of a program that rotates by positions (Su et al. 2021, section 3).

    target: rotate(x, positions) or rotate(x, first) gives x (B, H, N, D), rotated, in the dtype
        of x; or a class, whose objects, made from D, are such functions. positions are 64-bit
        integers (N) or (B, N). Other names: position_ids, input_pos, pos; offset, start,
        start_pos, position_offset; theta, rope_theta for `base`; rotary_dim, rotary_width
        for `width`, how many columns are rotated. Options without a parameter are not tested.
        `rotate.backward(dout, ...)` gives dq (B, H, N, D), and `rotate.place(q, k, v, ...)` the
        three arrays for attention.
    layout: "bhld", or "blhd" for (B, N, H, D). how: as `spec.positions.calling.made` has it;
        conventions {"pairing": "halves"} where column i is paired with i + width / 2.
    Raises Unsuitable as `made` does, and for an unknown layout.
    """
    if layout not in ("bhld", "blhd"):
        raise unknown("layout", layout, ("bhld", "blhd"))
    ready, facts = made(Rotation, target, 1, ANSWERS, **how)
    pairing = facts["conventions"].get("pairing", PAIRINGS[0])
    seen = Turning(ready, pairing, asked, "q", "the rotated array", layout=layout)
    return Rotation(
        **facts,
        rotate=seen.forward,
        backward=seen.backward if ready.differentiates else not_offered,
        place=seen.place if ready.attribute("place") else not_offered,
        call=seen.watched,
    )


def asked(library: Library, problem: Problem) -> dict[str, Any]:
    """The options of a problem: those that tell its positions, and what is not as usual.

    Raises Refused: a position between two, which is no integer.
    """
    p = problem.positions
    rows = p if (p != p[:1]).any() else p[0]
    whole = rows.astype(np.int64)
    if (whole != rows).any():
        raise Refused("positions between whole numbers cannot be put as integers")
    options = {"first": int(p[0, 0]), "positions": library.integers(whole)}
    if problem.base != BASE:
        options["base"] = problem.base
    if problem.turned is not None:
        options["width"] = problem.turned
    return options
