"""Known bugs in the rotation: wrong columns, wrong arrays, or a wrong backward pass."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spec.mistake import Steps
from spec.notation import Array
from spec.positions.rotary.mistakes import steps
from spec.positions.rotary.mistakes.making import wrong
from spec.positions.rotary.mistakes.steps import Options

POSITIONAL = "BUG-35"
Turned = Callable[[Array], Array]


@wrong(
    "turn",
    incident=POSITIONAL,
    convention=("pairing", "halves"),
    where="a position above 0 and several pairs",
)
def pairs_halves(x: Array, c: Array, s: Array) -> Array:
    """Pairs column i with column i + D/2 instead of pairing neighbouring columns."""
    one, two = np.split(x, 2, axis=-1)
    return np.concatenate([one * c - two * s, one * s + two * c], axis=-1)


@wrong("turn", incident=POSITIONAL, where="a position above 0")
def subtracts_twice(x: Array, c: Array, s: Array) -> Array:
    """Subtracts the sine term in both columns of a pair, but the second column must add it."""
    y = steps.turn(x, c, s)
    y[..., 1::2] = x[..., 1::2] * c - x[..., 0::2] * s
    return y


@wrong("rotate", incident=POSITIONAL, where="a position above 0")
def turns_nothing(x: Array, options: Options, at: Steps) -> Array:  # noqa: ARG001
    """Returns a copy of the input that is not rotated."""
    return x.copy()


@wrong("turn", incident=POSITIONAL, where="a position above 0")
def reads_what_it_has_overwritten(x: Array, c: Array, s: Array) -> Array:
    """Rotates in place, so the second column of a pair is computed from the new first one."""
    y = x.copy()
    y[..., 0::2] = y[..., 0::2] * c - y[..., 1::2] * s
    y[..., 1::2] = y[..., 0::2] * s + y[..., 1::2] * c
    return y


@wrong("rest", incident=POSITIONAL, where="a partial rotation")
def drops_the_rest(x: Array, width: int) -> Array:  # noqa: ARG001
    """Sets the columns beyond the rotated ones to zero."""
    return np.zeros_like(x)


@wrong("rest", incident=POSITIONAL, where="a partial rotation")
def negates_the_rest(x: Array, width: int) -> Array:  # noqa: ARG001
    """Negates the columns beyond the rotated ones."""
    return -x


@wrong("rotate", incident=POSITIONAL, force="should", where="D % 2 != 0 and no partial rotation")
def drops_the_odd_column(x: Array, options: Options, at: Steps) -> Array:
    """Accepts an odd width, and leaves its last column unrotated."""
    return steps.rotate(x, options._replace(width=options.width // 2 * 2), at)


@wrong("receive", incident=POSITIONAL, where="gradients asked for and a position above 0")
def turns_gradients_the_same_way(dout: Array, options: Options, at: Steps) -> Array:
    """Rotates the gradient forward instead of back."""
    return steps.rotate(dout, options, at)


@wrong("receive", incident=POSITIONAL, where="gradients asked for and a position above 0")
def leaves_gradients_unturned(dout: Array, options: Options, at: Steps) -> Array:  # noqa: ARG001
    """Returns the gradient without rotating it back."""
    return dout


@wrong("receive", incident=POSITIONAL, where="gradients asked for")
def counts_gradients_from_one(dout: Array, options: Options, at: Steps) -> Array:
    """Adds 1 to all positions in the backward pass only, as if it counted from 1."""
    return steps.receive(dout, options._replace(positions=options.positions + 1), at)


@wrong("ready", incident=POSITIONAL, where="placed arrays asked for and a position above 0")
def rotates_values_too(q: Array, k: Array, v: Array, turned: Turned) -> tuple[Array, ...]:
    """Rotates the values as well as the queries and keys."""
    return turned(q), turned(k), turned(v)


@wrong("ready", incident=POSITIONAL, where="placed arrays asked for and a position above 0")
def rotates_queries_only(q: Array, k: Array, v: Array, turned: Turned) -> tuple[Array, ...]:
    """Rotates the queries, but not the keys."""
    return turned(q), k, v


@wrong("ready", incident=POSITIONAL, where="placed arrays asked for and a position above 0")
def turns_keys_the_other_way(q: Array, k: Array, v: Array, turned: Turned) -> tuple[Array, ...]:
    """Rotates the keys in the opposite direction."""
    flipped = np.where(np.arange(k.shape[-1]) % 2, -1, 1).astype(k.dtype)
    return turned(q), turned(k * flipped) * flipped, v


@wrong("leave", incident="plausible")
def turns_queries_in_place(y: Array, x: Array) -> Array:
    """Writes the rotated array into the caller's input array."""
    x[...] = y
    return x


@wrong("turn", incident="BUG-40", harmless=True)
def multiplies_complex_numbers(x: Array, c: Array, s: Array) -> Array:
    """Treats each pair as a complex number, and multiplies it by exp(i angle)."""
    z = (x[..., 0::2] + 1j * x[..., 1::2]) * (c + 1j * s)
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape).astype(x.dtype)


@wrong("turn", incident="BUG-40", harmless=True)
def turns_halves_of_permuted_columns(x: Array, c: Array, s: Array) -> Array:
    """Reorders the columns to rotate halves, and restores their order afterwards."""
    width = x.shape[-1]
    order = np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])
    one, two = np.split(x[..., order], 2, axis=-1)
    halves = np.concatenate([one * c - two * s, two * c + one * s], axis=-1)
    return halves[..., np.argsort(order)]


@wrong("receive", incident="BUG-40", harmless=True)
def turns_gradients_by_opposite_positions(dout: Array, options: Options, at: Steps) -> Array:
    """Rotates gradients back by rotating them forward with negative positions."""
    opposite = replace(at, place=lambda positions, x: -steps.place(positions, x))
    return steps.rotate(dout, options, opposite)
