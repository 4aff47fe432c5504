"""The record of an ordinary program that adds sinusoidal positions."""

from collections.abc import Callable
from typing import Any

from spec.positions.calling import made
from spec.positions.conventions import Turning
from spec.positions.pairing import PAIRINGS
from spec.positions.record import Capability
from spec.positions.sinusoidal.notation import Encoding
from spec.subject import not_offered

ANSWERS = {"first": (Capability.OFFSET,)}


def encoding(target: Callable[..., Any], **how: Any) -> Encoding:
    """The record of a program that adds sinusoidal positions (Vaswani et al. 2017, section 3.5).

    target: encode(x) or encode(x, first) gives x (B, N, E) plus PE[first ... first + N - 1], in
        the dtype of x; or a class, whose objects, made from E, are such functions. The first
        position may be called first, offset, start, start_pos or position_offset; without
        it only texts that start at zero are asked for. `encode.table(length, width, first,
        dtype)` gives (length, width), and `encode.backward(dout, x[, first])` dx (B, N, E).
    how: as `spec.positions.calling.made` has it; conventions {"pairing": "halves"} where all
        sines come before all cosines.
    Raises Unsuitable as `made` does.
    """
    ready, facts = made(Encoding, target, 1, ANSWERS, **how)
    pairing = facts["conventions"].get("pairing", PAIRINGS[0])
    seen = Turning(ready, pairing, lambda _, p: {"first": p.first}, "x", "y", ("dout", "x"))
    return Encoding(
        **facts,
        table=seen.table,
        add=seen.forward,
        call=seen.watched,
        backward=seen.backward if ready.differentiates else not_offered,
    )
