"""The record of an ordinary program that rotates by positions.

    rotation(rotate)           rotate(x, positions) or rotate(x, first): (B, H, N, D) to the same
    rotation(RotaryEmbedding)  a class: RotaryEmbedding(D) is such a function

positions are integers, (N) where all batch elements agree and (B, N) where they do not;
`base` and `width` (how many columns are rotated) are used where they are there. So are
`rotate.backward(dout, ...)` and `rotate.place(q, k, v, ...)`, which take the same
options; torch differentiates by itself. layout "blhd" has the length before the heads.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from spec.attention.plug import LAYOUTS
from spec.backends import Unsuitable
from spec.backends.library import name_of
from spec.backends.results import watched
from spec.comparison import Violation
from spec.notation import Array, Call
from spec.positions.calling import Made, made, options_of
from spec.positions.pairing import inverse, known, order
from spec.positions.record import Capability
from spec.positions.rotary.notation import KINDS, Problem, Rotation, kinds_of
from spec.subject import Refused, not_offered

ANSWERS = {
    "first": {Capability.OFFSET},
    "positions": {Capability.OFFSET, Capability.POSITIONS, Capability.ROWS_OF_POSITIONS},
    "base": {Capability.BASE},
    "width": {Capability.PARTIAL_ROTATION},
}


def rotation(
    target: Callable[..., Any],
    *,
    name: str | None = None,
    backend: str | None = None,
    device: str = "cpu",
    layout: str = "bhld",
    dtypes: tuple[str, ...] | None = None,
    conventions: Mapping[str, str] | None = None,
    origin: str = "",
) -> Rotation:
    """The record of a program that rotates by positions (Su et al. 2021, section 3).

    target: rotate(x, positions) or rotate(x, first) gives x (B, H, N, D), rotated, in the dtype
        of x; or a class, whose objects, made from D, are such functions. positions are 64-bit
        integers (N) or (B, N). Other names: position_ids, input_pos, pos; offset, start,
        start_pos, position_offset; theta, rope_theta for `base`; rotary_dim, rotary_width
        for `width`. What is not taken is not asked for. `rotate.backward(dout, ...)` gives
        dq (B, H, N, D), and `rotate.place(q, k, v, ...)` the three arrays for attention.
    layout: "bhld", or "blhd" for (B, N, H, D). name, origin, backend, device, dtypes: as for
        `spec.positions.sinusoidal.plug.encoding`.
    conventions: {"pairing": "halves"} where column i is paired with i + width / 2; else those that
        the target carries as an attribute `conventions`.
    Raises Unsuitable, in one line: what is no function; parameters that are required and that
    no problem has, or too few of them; an unknown layout, pairing or library. A result of the
    wrong shape or dtype is a Violation when it comes, and an exception a Refused.
    """
    if layout not in LAYOUTS:
        raise Unsuitable(f"unknown layout {layout!r}: choose from {', '.join(LAYOUTS)}")
    chosen = conventions or getattr(target, "conventions", {})
    ready = made(target, backend, device)
    seen = Seen(ready, known(chosen), layout, options_of(ready, 1, ANSWERS))
    kinds = {Capability.LONG}.union(*(ANSWERS[option] for option in seen.options)) & KINDS
    return Rotation(
        name=name or name_of(target),
        rotate=seen.rotate,
        backward=seen.backward if ready.differentiates else not_offered,
        place=seen.place if ready.attribute("place") else not_offered,
        call=seen.watched,
        answers=frozenset(kinds),
        differentiates=frozenset(kinds),
        dtypes=dtypes or ready.library.dtypes,
        conventions=chosen,
        origin=origin,
    )


@dataclass(frozen=True)
class Seen:
    """A function of queries and positions, seen as functions of a problem."""

    made: Made
    pairing: str
    layout: str
    options: Mapping[str, str]

    def rotate(self, problem: Problem) -> Array:
        """The rotated q."""
        with self.made.running(problem.dtype):
            y = self._call(problem, self._put(problem, problem.q))
            return self._read(y, problem, "the rotated array")

    def watched(self, problem: Problem) -> Call:
        """The rotation as its caller sees it; an array of positions is an input too."""
        with self.made.running(problem.dtype):
            buffer, q = self.made.library.placed(self._turned(problem, problem.q), problem.dtype)
            asked = self._asked(problem)
            named = self.options.get("positions")
            positions = {"positions": asked[named]} if named else {}
            return watched(
                self.made.library,
                {"q": buffer, **positions},
                lambda: self._function(problem)(q, **asked),
                lambda y: self._read(y, problem, "the rotated array"),
            )

    def backward(self, problem: Problem) -> Array:
        """dq, from the cotangent dout."""
        with self.made.running(problem.dtype):
            dout = self._put(problem, problem.dout)
            given = self.made.attribute("backward")
            if given is not None:
                return self._read(given(dout, **self._asked(problem)), problem, "dq")
            call, q = partial(self._call, problem), self._put(problem, problem.q)
            (dq,) = self.made.library.gradients(call, [q], dout)
            return self._read(dq, problem, "dq")

    def place(self, problem: Problem) -> tuple[Array, Array, Array]:
        """q, k and v as attention is to receive them."""
        with self.made.running(problem.dtype):
            arrays = [self._put(problem, x) for x in (problem.q, problem.k, problem.v)]
            ready = self.made.attribute("place")
            assert ready is not None
            placed = ready(*arrays, **self._asked(problem))
            if not isinstance(placed, tuple | list) or len(placed) != 3:
                raise Violation(f"place returned {type(placed).__name__}, want (q, k, v)")
            names = zip("qkv", placed, strict=True)
            q, k, v = (self._read(x, problem, f"the placed {name}") for name, x in names)
            return q, k, v

    def _call(self, problem: Problem, x: Any) -> Any:
        return self._function(problem)(x, **self._asked(problem))

    def _function(self, problem: Problem) -> Callable[..., Any]:
        return self.made.function(problem.D, problem.dtype)

    def _asked(self, problem: Problem) -> dict[str, Any]:
        """The options of the problem, as the function calls them."""
        p, kinds = problem.positions, kinds_of(problem)
        rows = p if Capability.ROWS_OF_POSITIONS in kinds else p[0]
        asked: dict[str, Any] = {"first": int(p[0, 0])}
        if "positions" in self.options:
            asked = {"positions": self._whole(rows)}
        if Capability.BASE in kinds:
            asked["base"] = problem.base
        if problem.turned is not None:
            asked["width"] = problem.turned
        return {self.options[ours]: x for ours, x in asked.items() if ours in self.options}

    def _whole(self, rows: Array) -> Any:
        """Positions, as an array of 64-bit integers. Raises Refused: a position between two."""
        whole = rows.astype(np.int64)
        if (whole != rows).any():
            raise Refused("positions between whole numbers cannot be put as integers")
        return self.made.library.integers(whole)

    def _put(self, problem: Problem, x: Array) -> Any:
        return self.made.library.placed(self._turned(problem, x), problem.dtype)[1]

    def _turned(self, problem: Problem, x: Array) -> Array:
        """In the layout of the function, its columns in the order of the function."""
        return self._laid(x[..., order(problem.D, self.pairing, problem.turned)])

    def _read(self, result: Any, problem: Problem, what: str) -> Array:
        shape = self._laid(problem.q).shape
        numbers = self._laid(self.made.read(result, shape, problem.dtype, what))
        return numbers[..., inverse(problem.D, self.pairing, problem.turned)]

    def _laid(self, x: Array) -> Array:
        """From our layout to the function's, or back."""
        return x.swapaxes(1, 2) if self.layout == "blhd" else x
