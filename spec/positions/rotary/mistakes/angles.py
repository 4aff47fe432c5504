"""Known bugs in the angles: wrong positions, wrong frequencies, or too little precision."""

import numpy as np

from spec.formats import rounded
from spec.mistake import Steps
from spec.notation import Array
from spec.positions.rotary.mistakes import steps
from spec.positions.rotary.mistakes.making import wrong
from spec.positions.rotary.mistakes.steps import Options

POSITIONAL = "BUG-35"


@wrong("hands", incident=POSITIONAL, where="a position above 0")
def turns_the_other_way(angle: Array) -> tuple[Array, Array]:
    """Negates the sine, so it rotates in the opposite direction."""
    return np.cos(angle), -np.sin(angle)


@wrong("hands", incident=POSITIONAL)
def swaps_sine_and_cosine(angle: Array) -> tuple[Array, Array]:
    """Swaps the sine and the cosine."""
    return np.sin(angle), np.cos(angle)


@wrong("frequency", incident=POSITIONAL, where="a position above 0 and several pairs")
def halves_the_exponent(options: Options) -> Array:
    """Uses base^(-i / D) instead of base^(-2 i / D) as the frequency of pair i."""
    number, width = options.number, options.width
    return np.power(number(options.base), -np.arange(width // 2).astype(number) / number(width))


@wrong("frequency", incident=POSITIONAL, where="a position above 0 and several pairs")
def takes_a_base_of_a_thousand(options: Options) -> Array:
    """Divides the base by 10, so 10000 becomes 1000."""
    return steps.frequency(options._replace(base=options.base / 10))


@wrong(
    "frequency",
    incident=POSITIONAL,
    where="a position above 0 and several pairs and a partial rotation",
)
def divides_by_the_whole_width(options: Options) -> Array:
    """Computes the frequencies of a partial rotation from the whole width, not the rotated one."""
    return steps.frequency(options._replace(width=options.columns))[: options.width // 2]


@wrong("frequency", incident=POSITIONAL, where="a position above 0 and several pairs")
def rounds_frequencies_to_bfloat16(options: Options) -> Array:
    """Rounds the frequencies to bfloat16."""
    theta = steps.frequency(options)
    return rounded(theta.astype(float), "bfloat16").astype(options.number)


@wrong("frequency", incident=POSITIONAL, where="a position above 0")
def gives_pairs_the_next_angle(options: Options) -> Array:
    """Counts pairs from 1 instead of 0, so each pair gets the frequency of the next one."""
    return steps.frequency(options) * options.number(options.base ** (-2 / options.width))


@wrong("rotate", incident=POSITIONAL, where="a position above 0")
def gives_every_column_a_frequency(x: Array, options: Options, at: Steps) -> Array:
    """Uses base^(-c / D) for each column c, so the two columns of a pair get different angles."""
    number = options.number
    columns = np.arange(options.width).astype(number) / number(options.width)
    angle = at.angle(at.place(options.positions, x), number(options.base) ** -columns)[:, None]
    wide = x.astype(number)
    even, odd = wide[..., 0 : options.width : 2], wide[..., 1 : options.width : 2]
    partner = np.stack([-odd, even], axis=-1).reshape(wide[..., : options.width].shape)
    y = wide[..., : options.width] * np.cos(angle) + partner * np.sin(angle)
    return np.concatenate([y, wide[..., options.width :]], axis=-1).astype(x.dtype)


@wrong("hands", incident=POSITIONAL, where="a position above 64")
def shifts_a_sine_for_the_cosine(angle: Array) -> tuple[Array, Array]:
    """Computes the cosine as sin(angle + pi / 2), where the rounded sum loses precision."""
    return np.sin(angle + angle.dtype.type(np.pi / 2)), np.sin(angle)


@wrong(
    "angle",
    incident=POSITIONAL,
    where="a position above 0 and (several pairs or a position above 255)",
)
def takes_angles_in_bfloat16(positions: Array, theta: Array) -> Array:
    """Rounds the angles to bfloat16 before it computes cosine and sine."""
    product = positions[..., None].astype(float) * theta.astype(float)
    return rounded(product, "bfloat16").astype(theta.dtype)


@wrong(
    "angle",
    incident=POSITIONAL,
    where="a position above 0 and (several pairs or a position above 2047)",
)
def takes_angles_in_float16(positions: Array, theta: Array) -> Array:
    """Rounds the angles to float16 before it computes cosine and sine."""
    product = positions[..., None].astype(float) * theta.astype(float)
    return rounded(np.minimum(product, 65504.0), "float16").astype(theta.dtype)


@wrong("place", incident=POSITIONAL, where="a position above 2047")
def rounds_positions_to_float16(positions: Array, x: Array) -> Array:
    """Rounds the positions to float16, in which not every integer above 2048 exists."""
    return steps.place(rounded(np.minimum(positions, 65504).astype(float), "float16"), x)


@wrong("angle", incident=POSITIONAL, where="a position above 0 and several pairs")
def counts_in_powers(positions: Array, theta: Array) -> Array:
    """Computes the angle as p theta^(1 + p / 64) instead of p theta for position p."""
    return positions[..., None] * theta ** (1 + positions[..., None].astype(theta.dtype) / 64)


@wrong("place", incident=POSITIONAL)
def counts_from_one(positions: Array, x: Array) -> Array:
    """Adds 1 to all positions, as if they were counted from 1."""
    return steps.place(positions + 1, x)


@wrong("place", incident="BUG-03", where="positions other than 0, 1, 2")
def starts_again_behind_a_cache(positions: Array, x: Array) -> Array:  # noqa: ARG001
    """Ignores the given positions, and counts the tokens of each call from 0."""
    return np.arange(x.shape[2])[None]


@wrong("place", incident="BUG-03", where="a first position")
def is_a_row_late_behind_a_cache(positions: Array, x: Array) -> Array:
    """Starts one position too early after a cache: subtracts 1 if the first position is not 0."""
    return steps.place(positions - (positions[..., :1] > 0), x)


@wrong("place", incident=POSITIONAL, where="positions per sequence")
def takes_the_first_row_of_positions(positions: Array, x: Array) -> Array:
    """Uses the positions of the first batch element for all batch elements."""
    return steps.place(positions, x)[:1]


@wrong("spread", incident=POSITIONAL, where="positions per sequence")
def reads_positions_by_head(x: Array, heads: int) -> Array:
    """Broadcasts the batch axis of the positions along the heads."""
    return np.resize(x, (heads, *x.shape[1:]))[None]


@wrong("place", incident=POSITIONAL, where="B > 1")
def adds_the_batch_element(positions: Array, x: Array) -> Array:
    """Adds the index of the batch element to its positions."""
    return steps.place(positions, x) + np.arange(len(x))[:, None]


_angles: dict[object, Array] = {}


@wrong("frequency", incident="BUG-29")
def keeps_the_first_frequencies(options: Options) -> Array:
    """Caches frequencies, and returns the first of them for a smaller width or another base."""
    number, pairs = options.number, options.width // 2
    if len(_angles.get(number, ())) < pairs:
        _angles[number] = steps.frequency(options)
    return _angles[number][:pairs]


@wrong("frequency", incident="BUG-29")
def keeps_a_table_of_another_base(options: Options) -> Array:
    """Caches the frequencies by width only, and returns them for another base."""
    key = options.number, options.width
    if key not in _angles:
        _angles[key] = steps.frequency(options)
    return _angles[key]
