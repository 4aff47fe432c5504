"""Right angles put to wrong use: on other columns, on too many arrays, or backward."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from spec.mistake import Steps
from spec.notation import Array
from spec.positions.rotary.mistakes import steps
from spec.positions.rotary.mistakes.making import wrong
from spec.positions.rotary.mistakes.steps import Options

POSITIONAL = "I35"
Turned = Callable[[Array], Array]


@wrong(
    "turn",
    incident=POSITIONAL,
    convention=("pairing", "halves"),
    where="a position above 0 and several pairs",
)
def pairs_halves(x: Array, c: Array, s: Array) -> Array:
    """Pairs column i with column i + D/2."""
    one, two = np.split(x, 2, axis=-1)
    return np.concatenate([one * c - two * s, one * s + two * c], axis=-1)


@wrong("turn", incident=POSITIONAL, where="a position above 0")
def subtracts_twice(x: Array, c: Array, s: Array) -> Array:
    """Forgets that the sign changes between the two columns of a pair."""
    y = steps.turn(x, c, s)
    y[..., 1::2] = x[..., 1::2] * c - x[..., 0::2] * s
    return y


@wrong("rotate", incident=POSITIONAL, where="a position above 0")
def turns_nothing(x: Array, options: Options, at: Steps) -> Array:  # noqa: ARG001
    """Loses the result of a rotation that was meant to be in place."""
    return x.copy()


@wrong("turn", incident=POSITIONAL, where="a position above 0")
def reads_what_it_has_overwritten(x: Array, c: Array, s: Array) -> Array:
    """Turns in place, and takes the new first column for the old one."""
    y = x.copy()
    y[..., 0::2] = y[..., 0::2] * c - y[..., 1::2] * s
    y[..., 1::2] = y[..., 0::2] * s + y[..., 1::2] * c
    return y


@wrong("rest", incident=POSITIONAL, where="a partial rotation")
def drops_the_rest(x: Array, width: int) -> Array:  # noqa: ARG001
    """Fills an array of zeros with the rotated columns, and forgets the others."""
    return np.zeros_like(x)


@wrong("rest", incident=POSITIONAL, where="a partial rotation")
def negates_the_rest(x: Array, width: int) -> Array:  # noqa: ARG001
    """Negates the columns beyond the rotated ones, with the half that a turn negates."""
    return -x


@wrong("rotate", incident=POSITIONAL, force="should", where="D % 2 != 0 and no partial rotation")
def drops_the_odd_column(x: Array, options: Options, at: Steps) -> Array:
    """Rotates whole pairs only, and leaves the last column of an odd width alone."""
    return steps.rotate(x, options._replace(width=options.width // 2 * 2), at)


@wrong("receive", incident=POSITIONAL, where="gradients asked for and a position above 0")
def turns_gradients_the_same_way(dout: Array, options: Options, at: Steps) -> Array:
    """Calls the forward pass for the backward one."""
    return steps.rotate(dout, options, at)


@wrong("receive", incident=POSITIONAL, where="gradients asked for and a position above 0")
def leaves_gradients_unturned(dout: Array, options: Options, at: Steps) -> Array:  # noqa: ARG001
    """Takes positions for constants, and so the rotation for none."""
    return dout


@wrong("receive", incident=POSITIONAL, where="gradients asked for")
def counts_gradients_from_one(dout: Array, options: Options, at: Steps) -> Array:
    """Counts from one in the backward pass, where nobody looks."""
    return steps.receive(dout, options._replace(positions=options.positions + 1), at)


@wrong("ready", incident=POSITIONAL, where="placed arrays asked for and a position above 0")
def rotates_values_too(q: Array, k: Array, v: Array, turned: Turned) -> tuple[Array, ...]:
    """Rotates the packed array of queries, keys and values."""
    return turned(q), turned(k), turned(v)


@wrong("ready", incident=POSITIONAL, where="placed arrays asked for and a position above 0")
def rotates_queries_only(q: Array, k: Array, v: Array, turned: Turned) -> tuple[Array, ...]:
    """Assigns the rotated queries, and forgets the keys."""
    return turned(q), k, v


@wrong("ready", incident=POSITIONAL, where="placed arrays asked for and a position above 0")
def turns_keys_the_other_way(q: Array, k: Array, v: Array, turned: Turned) -> tuple[Array, ...]:
    """Conjugates the keys, as in a product of complex numbers."""
    flipped = np.where(np.arange(k.shape[-1]) % 2, -1, 1).astype(k.dtype)
    return turned(q), turned(k * flipped) * flipped, v


@wrong("leave", incident="plausible")
def turns_queries_in_place(y: Array, x: Array) -> Array:
    """Writes the rotated queries where the queries were, to save memory."""
    x[...] = y
    return x


@wrong("turn", incident="I40", harmless=True)
def multiplies_complex_numbers(x: Array, c: Array, s: Array) -> Array:
    """Reads a pair as one complex number, and multiplies it by exp(i a)."""
    z = (x[..., 0::2] + 1j * x[..., 1::2]) * (c + 1j * s)
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape).astype(x.dtype)


@wrong("turn", incident="I40", harmless=True)
def turns_halves_of_permuted_columns(x: Array, c: Array, s: Array) -> Array:
    """Puts first columns before second ones, turns halves, and puts them back."""
    width = x.shape[-1]
    order = np.concatenate([np.arange(0, width, 2), np.arange(1, width, 2)])
    one, two = np.split(x[..., order], 2, axis=-1)
    halves = np.concatenate([one * c - two * s, two * c + one * s], axis=-1)
    return halves[..., np.argsort(order)]


@wrong("receive", incident="I40", harmless=True)
def turns_gradients_by_opposite_positions(dout: Array, options: Options, at: Steps) -> Array:
    """Turns forward by -p to turn back by p."""
    opposite = replace(at, place=lambda positions, x: -steps.place(positions, x))
    return steps.rotate(dout, options, opposite)
