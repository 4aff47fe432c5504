"""Wrong angles: of another position, of another frequency, or with too few digits."""

import numpy as np

from spec.formats import rounded
from spec.mistake import Steps
from spec.notation import Array
from spec.positions.rotary.mistakes import steps
from spec.positions.rotary.mistakes.making import wrong
from spec.positions.rotary.mistakes.steps import Options

POSITIONAL = "I35"


@wrong("hands", incident=POSITIONAL, where="a position above 0")
def turns_the_other_way(angle: Array) -> tuple[Array, Array]:
    """Takes the sign of the sine from the other column."""
    return np.cos(angle), -np.sin(angle)


@wrong("hands", incident=POSITIONAL)
def swaps_sine_and_cosine(angle: Array) -> tuple[Array, Array]:
    """Unpacks (sin, cos) as (cos, sin)."""
    return np.sin(angle), np.cos(angle)


@wrong("frequency", incident=POSITIONAL, where="a position above 0 and several pairs")
def halves_the_exponent(options: Options) -> Array:
    """Takes i / D for the exponent, i being the pair and not the column."""
    number, width = options.number, options.width
    return np.power(number(options.base), -np.arange(width // 2).astype(number) / number(width))


@wrong("frequency", incident=POSITIONAL, where="a position above 0 and several pairs")
def takes_a_base_of_a_thousand(options: Options) -> Array:
    """Types a zero too few."""
    return steps.frequency(options._replace(base=options.base / 10))


@wrong(
    "frequency",
    incident=POSITIONAL,
    where="a position above 0 and several pairs and a partial rotation",
)
def divides_by_the_whole_width(options: Options) -> Array:
    """Takes the frequencies of a full rotation for a partial one."""
    return steps.frequency(options._replace(width=options.columns))[: options.width // 2]


@wrong("frequency", incident=POSITIONAL, where="a position above 0 and several pairs")
def rounds_frequencies_to_bfloat16(options: Options) -> Array:
    """Lets the buffer of frequencies be cast with the rest of the model."""
    theta = steps.frequency(options)
    return rounded(theta.astype(float), "bfloat16").astype(options.number)


@wrong("frequency", incident=POSITIONAL, where="a position above 0")
def gives_pairs_the_next_angle(options: Options) -> Array:
    """Counts pairs from one."""
    return steps.frequency(options) * options.number(options.base ** (-2 / options.width))


@wrong("rotate", incident=POSITIONAL, where="a position above 0")
def gives_every_column_a_frequency(x: Array, options: Options, at: Steps) -> Array:
    """Takes the column for the pair, so that the two of a pair are turned apart."""
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
    """Takes the sine of the angle plus a quarter turn, a sum that is rounded."""
    return np.sin(angle + angle.dtype.type(np.pi / 2)), np.sin(angle)


@wrong(
    "angle",
    incident=POSITIONAL,
    where="a position above 0 and (several pairs or a position above 255)",
)
def takes_angles_in_bfloat16(positions: Array, theta: Array) -> Array:
    """Rounds the angle to the bfloat16 of the model before its cosine is taken."""
    product = positions[..., None].astype(float) * theta.astype(float)
    return rounded(product, "bfloat16").astype(theta.dtype)


@wrong(
    "angle",
    incident=POSITIONAL,
    where="a position above 0 and (several pairs or a position above 2047)",
)
def takes_angles_in_float16(positions: Array, theta: Array) -> Array:
    """Rounds the angle to the float16 of the model before its cosine is taken."""
    product = positions[..., None].astype(float) * theta.astype(float)
    return rounded(np.minimum(product, 65504.0), "float16").astype(theta.dtype)


@wrong("place", incident=POSITIONAL, where="a position above 2047")
def rounds_positions_to_float16(positions: Array, x: Array) -> Array:
    """Keeps positions in float16, which cannot count beyond 2048."""
    return steps.place(rounded(np.minimum(positions, 65504).astype(float), "float16"), x)


@wrong("angle", incident=POSITIONAL, where="a position above 0 and several pairs")
def counts_in_powers(positions: Array, theta: Array) -> Array:
    """Raises the frequency to the position instead of multiplying."""
    return positions[..., None] * theta ** (1 + positions[..., None].astype(theta.dtype) / 64)


@wrong("place", incident=POSITIONAL)
def counts_from_one(positions: Array, x: Array) -> Array:
    """Numbers the tokens as people do, from one."""
    return steps.place(positions + 1, x)


@wrong("place", incident="I03", where="positions other than 0, 1, 2")
def starts_again_behind_a_cache(positions: Array, x: Array) -> Array:  # noqa: ARG001
    """Numbers the tokens of this call, whatever came before."""
    return np.arange(x.shape[2])[None]


@wrong("place", incident="I03", where="a first position")
def is_a_row_late_behind_a_cache(positions: Array, x: Array) -> Array:
    """Takes the position of the last token of the cache for that of the first new one."""
    return steps.place(positions - (positions[..., :1] > 0), x)


@wrong("place", incident=POSITIONAL, where="positions by batch element")
def takes_the_first_row_of_positions(positions: Array, x: Array) -> Array:
    """Reads the positions of the first batch element for all of them."""
    return steps.place(positions, x)[:1]


@wrong("spread", incident=POSITIONAL, where="positions by batch element")
def reads_positions_by_head(x: Array, heads: int) -> Array:
    """Lines the batch axis of the positions up with the heads."""
    return np.resize(x, (heads, *x.shape[1:]))[None]


@wrong("place", incident=POSITIONAL, where="B > 1")
def adds_the_batch_element(positions: Array, x: Array) -> Array:
    """Adds the batch element to the position, from an index into a flattened array."""
    return steps.place(positions, x) + np.arange(len(x))[:, None]


_angles: dict[object, Array] = {}


@wrong("frequency", incident="I29")
def keeps_the_first_frequencies(options: Options) -> Array:
    """Cuts the frequencies out of those that it kept, if they are enough."""
    number, pairs = options.number, options.width // 2
    if len(_angles.get(number, ())) < pairs:
        _angles[number] = steps.frequency(options)
    return _angles[number][:pairs]


@wrong("frequency", incident="I29")
def keeps_a_table_of_another_base(options: Options) -> Array:
    """Keeps the frequencies under the width alone."""
    key = options.number, options.width
    if key not in _angles:
        _angles[key] = steps.frequency(options)
    return _angles[key]
