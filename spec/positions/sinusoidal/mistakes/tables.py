"""Plausible wrong sinusoidal positions, and some that only look wrong."""

import numpy as np

from spec.formats import rounded
from spec.mistake import Steps
from spec.notation import Array
from spec.positions.sinusoidal.mistakes import steps
from spec.positions.sinusoidal.mistakes.making import wrong

POSITIONAL = "I35"
LENGTH = 256  # of the table that a program made once


@wrong("place", incident=POSITIONAL)
def counts_from_one(first: int, length: int) -> Array:
    """Numbers the tokens as people do, from one."""
    return first + 1 + np.arange(length)


@wrong("place", incident="I03", where="a first position")
def starts_again_behind_a_cache(first: int, length: int) -> Array:  # noqa: ARG001
    """Numbers the tokens of this call, whatever came before."""
    return np.arange(length)


@wrong("place", incident="I03", where="a first position")
def is_a_row_late_behind_a_cache(first: int, length: int) -> Array:
    """Takes the position of the last token of the cache for that of the first new one."""
    return max(first - 1, 0) + np.arange(length)


@wrong("place", incident=POSITIONAL, where="a position above 255")
def wraps_around_at_its_length(first: int, length: int) -> Array:
    """Reads a table of fixed length from the start again when it ends."""
    return (first + np.arange(length)) % LENGTH


@wrong("weave", incident=POSITIONAL)
def swaps_sine_and_cosine(angle: Array, width: int) -> Array:
    """Begins with the cosine."""
    return steps.weave(np.pi / 2 - angle, width)


@wrong("weave", incident=POSITIONAL, convention=("pairing", "halves"), where="E > 2")
def puts_sines_before_cosines(angle: Array, width: int) -> Array:
    """Puts the sines and the cosines side by side, as two blocks."""
    return np.concatenate([np.sin(angle), np.cos(angle)[:, : width // 2]], axis=-1)


@wrong("frequency", incident=POSITIONAL, where="E > 2 and a position above 0")
def halves_the_exponent(width: int, number: type[np.floating]) -> Array:
    """Takes i / E for the exponent, i being the pair and not the column."""
    return np.power(number(10000), -np.arange((width + 1) // 2).astype(number) / number(width))


@wrong("frequency", incident=POSITIONAL, where="E > 2 and a position above 0")
def ends_at_the_base(width: int, number: type[np.floating]) -> Array:
    """Spreads the frequencies from 1 to 1/10000, both ends taken, as some libraries do."""
    pairs = (width + 1) // 2
    return np.power(number(10000), -np.arange(pairs).astype(number) / number(max(pairs - 1, 1)))


@wrong("rows", incident=POSITIONAL, where="E > 1 and a position above 0")
def gives_every_column_a_frequency(
    first: int, length: int, width: int, number: type[np.floating], at: Steps
) -> Array:
    """Takes the column for the pair, so that sine and cosine of a pair turn apart."""
    theta = np.power(number(10000), -np.arange(width).astype(number) / number(width))
    angle = at.angle(at.place(first, length), theta)
    return np.where(np.arange(width) % 2, np.cos(angle), np.sin(angle))


@wrong("weave", incident=POSITIONAL, where="a position above 64")
def shifts_a_sine_for_the_cosine(angle: Array, width: int) -> Array:
    """Takes the sine of the angle plus a quarter turn, a sum that is rounded."""
    shift = (np.arange(width) % 2 * np.pi / 2).astype(angle.dtype)
    return np.sin(np.repeat(angle, 2, axis=-1)[:, :width] + shift)


@wrong("angle", incident=POSITIONAL, where="a position above 0 and (E > 2 or a position above 255)")
def takes_angles_in_bfloat16(positions: Array, theta: Array) -> Array:
    """Keeps frequencies and positions in the bfloat16 of the model."""
    whole = rounded(positions[:, None].astype(float), "bfloat16")
    product = rounded(whole * rounded(theta.astype(float), "bfloat16"), "bfloat16")
    return product.astype(theta.dtype)


@wrong(
    "angle", incident=POSITIONAL, where="a position above 0 and (E > 2 or a position above 2047)"
)
def takes_angles_in_float16(positions: Array, theta: Array) -> Array:
    """Keeps frequencies and positions in the float16 of the model."""
    with np.errstate(over="ignore"):
        angle = positions[:, None].astype(np.float16) * theta.astype(np.float16)
    return np.where(np.isfinite(angle), angle, 0).astype(theta.dtype)


@wrong("weave", incident=POSITIONAL, where="E % 2 != 0 and a position above 0")
def drops_the_odd_column(angle: Array, width: int) -> Array:
    """Fills whole pairs only, and leaves the last column of an odd width empty."""
    rows = steps.weave(angle, width)
    rows[:, width - width % 2 :] = 0
    return rows


@wrong("join", incident=POSITIONAL)
def adds_nothing(x: Array, table: Array) -> Array:  # noqa: ARG001
    """Loses the sum, which was meant to be made in place."""
    return x.copy()


@wrong("join", incident=POSITIONAL)
def multiplies_by_the_table(x: Array, table: Array) -> Array:
    """Lets positions gate the tokens."""
    return x * table


@wrong("join", incident=POSITIONAL)
def puts_the_table_beside(x: Array, table: Array) -> Array:
    """Concatenates instead of adding."""
    return np.concatenate([x, np.broadcast_to(table, x.shape)], axis=-1)


@wrong("join", incident=POSITIONAL, where="E > 1")
def scales_tokens_first(x: Array, table: Array) -> Array:
    """Multiplies the tokens by sqrt(E), which is the business of the embedding."""
    return np.sqrt(x.dtype.type(x.shape[-1])) * x + table


@wrong("join", incident=POSITIONAL, where="N > 1")
def counts_batch_elements(x: Array, table: Array) -> Array:
    """Takes the first axis for the length, as where sequences come before batches."""
    return x + np.resize(table, (len(x), x.shape[2]))[:, None, :]


@wrong("leave", incident="plausible")
def adds_to_the_tokens_in_place(y: Array, x: Array) -> Array:
    """Writes x += PE, as nobody needs the tokens any more; but a residual sum does."""
    x[...] = y
    return x


@wrong("receive", incident=POSITIONAL, where="gradients asked for and B > 1")
def sums_the_gradient_over_the_batch(dout: Array, x: Array, table: Array) -> Array:  # noqa: ARG001
    """Adds up over the batch, as the gradient of a table that is learned does."""
    return np.broadcast_to(dout.sum(axis=0), dout.shape)


@wrong("receive", incident=POSITIONAL, where="gradients asked for")
def differentiates_a_product(dout: Array, x: Array, table: Array) -> Array:  # noqa: ARG001
    """Multiplies the cotangent by the table."""
    return dout * table


_tables: dict[type[np.floating], Array] = {}


@wrong("rows", incident="I29")
def keeps_a_wider_table(
    first: int, length: int, width: int, number: type[np.floating], at: Steps
) -> Array:
    """Cuts a table out of the one that it kept, if that is long and wide enough."""
    kept = _tables.get(number, np.zeros((0, 0)))
    if len(kept) < first + length or kept.shape[1] < width:
        _tables[number] = kept = steps.rows(0, first + length, width, number, at)
    return kept[first : first + length, :width]


@wrong("frequency", incident="I40", harmless=True)
def takes_the_exponential_of_a_logarithm(width: int, number: type[np.floating]) -> Array:
    """Writes the power as exp(-2i ln(10000) / E)."""
    return np.exp(np.arange(0, width, 2).astype(number) * -(np.log(number(10000)) / width))


@wrong("angle", incident="I40", harmless=True)
def divides_by_the_power(positions: Array, theta: Array) -> Array:
    """Divides by 10000^(2i / E) instead of multiplying by its reciprocal."""
    return positions[:, None].astype(theta.dtype) / (1 / theta)


@wrong("weave", incident="I40", harmless=True)
def takes_a_complex_exponential(angle: Array, width: int) -> Array:
    """Takes both from exp(i a), the imaginary part first."""
    hand = np.exp(1j * angle)
    both = np.stack([hand.imag, hand.real], axis=-1).reshape(len(angle), -1)
    return both[:, :width].astype(angle.dtype)
