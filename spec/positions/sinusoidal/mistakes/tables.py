"""Known bugs of sinusoidal positions, and variants that only look wrong."""

import numpy as np

from spec.formats import rounded
from spec.mistake import Steps
from spec.notation import Array
from spec.positions.sinusoidal.mistakes import steps
from spec.positions.sinusoidal.mistakes.making import wrong

POSITIONAL = "BUG-35"
LENGTH = 256  # of the table that a program makes only once


@wrong("place", incident=POSITIONAL)
def counts_from_one(first: int, length: int) -> Array:
    """Adds 1 to all positions, as if they were counted from 1."""
    return first + 1 + np.arange(length)


@wrong("place", incident="BUG-03", where="a first position")
def starts_again_behind_a_cache(first: int, length: int) -> Array:  # noqa: ARG001
    """Ignores the first position, and counts the tokens of each call from 0."""
    return np.arange(length)


@wrong("place", incident="BUG-03", where="a first position")
def is_a_row_late_behind_a_cache(first: int, length: int) -> Array:
    """Starts one position too early after a cache, at the position of its last token."""
    return max(first - 1, 0) + np.arange(length)


@wrong("place", incident=POSITIONAL, where="a position above 255")
def wraps_around_at_its_length(first: int, length: int) -> Array:
    """Wraps around at position 256, where its fixed table ends."""
    return (first + np.arange(length)) % LENGTH


@wrong("weave", incident=POSITIONAL)
def swaps_sine_and_cosine(angle: Array, width: int) -> Array:
    """Swaps sine and cosine: cosines in the even columns, sines in the odd ones."""
    return steps.weave(np.pi / 2 - angle, width)


@wrong("weave", incident=POSITIONAL, convention=("pairing", "halves"), where="E > 2")
def puts_sines_before_cosines(angle: Array, width: int) -> Array:
    """Puts all sines before all cosines instead of alternating them."""
    return np.concatenate([np.sin(angle), np.cos(angle)[:, : width // 2]], axis=-1)


@wrong("frequency", incident=POSITIONAL, where="E > 2 and a position above 0")
def halves_the_exponent(width: int, number: type[np.floating]) -> Array:
    """Uses 10000^(-i / E) instead of 10000^(-2 i / E) as the frequency of pair i."""
    return np.power(number(10000), -np.arange((width + 1) // 2).astype(number) / number(width))


@wrong("frequency", incident=POSITIONAL, where="E > 2 and a position above 0")
def ends_at_the_base(width: int, number: type[np.floating]) -> Array:
    """Spaces the frequencies from 1 to 1/10000 with both ends included, as some libraries do."""
    pairs = (width + 1) // 2
    return np.power(number(10000), -np.arange(pairs).astype(number) / number(max(pairs - 1, 1)))


@wrong("rows", incident=POSITIONAL, where="E > 1 and a position above 0")
def gives_every_column_a_frequency(
    first: int, length: int, width: int, number: type[np.floating], at: Steps
) -> Array:
    """Uses 10000^(-c / E) for each column c, so sine and cosine of a pair get different angles."""
    theta = np.power(number(10000), -np.arange(width).astype(number) / number(width))
    angle = at.angle(at.place(first, length), theta)
    return np.where(np.arange(width) % 2, np.cos(angle), np.sin(angle))


@wrong("weave", incident=POSITIONAL, where="a position above 64")
def shifts_a_sine_for_the_cosine(angle: Array, width: int) -> Array:
    """Computes the cosine as sin(angle + pi / 2), where the rounded sum loses precision."""
    shift = (np.arange(width) % 2 * np.pi / 2).astype(angle.dtype)
    return np.sin(np.repeat(angle, 2, axis=-1)[:, :width] + shift)


@wrong("angle", incident=POSITIONAL, where="a position above 0 and (E > 2 or a position above 255)")
def takes_angles_in_bfloat16(positions: Array, theta: Array) -> Array:
    """Rounds positions, frequencies and angles to bfloat16."""
    whole = rounded(positions[:, None].astype(float), "bfloat16")
    product = rounded(whole * rounded(theta.astype(float), "bfloat16"), "bfloat16")
    return product.astype(theta.dtype)


@wrong(
    "angle", incident=POSITIONAL, where="a position above 0 and (E > 2 or a position above 2047)"
)
def takes_angles_in_float16(positions: Array, theta: Array) -> Array:
    """Computes the angles in float16, and replaces those that overflow by 0."""
    with np.errstate(over="ignore"):
        angle = positions[:, None].astype(np.float16) * theta.astype(np.float16)
    return np.where(np.isfinite(angle), angle, 0).astype(theta.dtype)


@wrong("weave", incident=POSITIONAL, where="E % 2 != 0 and a position above 0")
def drops_the_odd_column(angle: Array, width: int) -> Array:
    """Sets the last column of an odd width to zero."""
    rows = steps.weave(angle, width)
    rows[:, width - width % 2 :] = 0
    return rows


@wrong("join", incident=POSITIONAL)
def adds_nothing(x: Array, table: Array) -> Array:  # noqa: ARG001
    """Returns the tokens without the positions."""
    return x.copy()


@wrong("join", incident=POSITIONAL)
def multiplies_by_the_table(x: Array, table: Array) -> Array:
    """Multiplies the tokens by the table instead of adding it."""
    return x * table


@wrong("join", incident=POSITIONAL)
def puts_the_table_beside(x: Array, table: Array) -> Array:
    """Concatenates the table to the tokens instead of adding it."""
    return np.concatenate([x, np.broadcast_to(table, x.shape)], axis=-1)


@wrong("join", incident=POSITIONAL, where="E > 1")
def scales_tokens_first(x: Array, table: Array) -> Array:
    """Multiplies the tokens by sqrt(E) first, which is a task of the embedding layer."""
    return np.sqrt(x.dtype.type(x.shape[-1])) * x + table


@wrong("join", incident=POSITIONAL, where="N > 1")
def counts_batch_elements(x: Array, table: Array) -> Array:
    """Adds the table along the batch axis instead of the sequence axis."""
    return x + np.resize(table, (len(x), x.shape[2]))[:, None, :]


@wrong("leave", incident="plausible")
def adds_to_the_tokens_in_place(y: Array, x: Array) -> Array:
    """Writes the sum into the caller's array of tokens."""
    x[...] = y
    return x


@wrong("receive", incident=POSITIONAL, where="gradients asked for and B > 1")
def sums_the_gradient_over_the_batch(dout: Array, x: Array, table: Array) -> Array:  # noqa: ARG001
    """Sums the gradient of the tokens over the batch, as for a learned table."""
    return np.broadcast_to(dout.sum(axis=0), dout.shape)


@wrong("receive", incident=POSITIONAL, where="gradients asked for")
def differentiates_a_product(dout: Array, x: Array, table: Array) -> Array:  # noqa: ARG001
    """Multiplies the cotangent by the table, as if the forward pass had multiplied."""
    return dout * table


_tables: dict[type[np.floating], Array] = {}


@wrong("rows", incident="BUG-29")
def keeps_a_wider_table(
    first: int, length: int, width: int, number: type[np.floating], at: Steps
) -> Array:
    """Caches one table, and returns its first columns for a smaller width."""
    kept = _tables.get(number, np.zeros((0, 0)))
    if len(kept) < first + length or kept.shape[1] < width:
        _tables[number] = kept = steps.rows(0, first + length, width, number, at)
    return kept[first : first + length, :width]


@wrong("frequency", incident="BUG-40", harmless=True)
def takes_the_exponential_of_a_logarithm(width: int, number: type[np.floating]) -> Array:
    """Computes the frequency as exp(-2i ln(10000) / E) instead of a power."""
    return np.exp(np.arange(0, width, 2).astype(number) * -(np.log(number(10000)) / width))


@wrong("angle", incident="BUG-40", harmless=True)
def divides_by_the_power(positions: Array, theta: Array) -> Array:
    """Divides each position by the reciprocal of the frequency instead of multiplying."""
    return positions[:, None].astype(theta.dtype) / (1 / theta)


@wrong("weave", incident="BUG-40", harmless=True)
def takes_a_complex_exponential(angle: Array, width: int) -> Array:
    """Computes sine and cosine as the two parts of exp(i angle)."""
    hand = np.exp(1j * angle)
    both = np.stack([hand.imag, hand.real], axis=-1).reshape(len(angle), -1)
    return both[:, :width].astype(angle.dtype)
