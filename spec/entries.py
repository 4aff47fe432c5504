"""The entries of a problem: families of numbers, and what each family is for.

Every family fills float64 arrays, parts of one, from a seeded source. `entries` then keeps them in
the *domain*, where nothing that a correct implementation computes can overflow, and rounds them to
the format under test. No drawn numbers are thrown away: an array that would leave the domain is
multiplied by a power of two that keeps it inside, so its digits stay.

The lattice is the family for clauses that shift problems: the integers up to 64, over 16. Sums of
two, and shifts by 4, are exact in every format, bfloat16 included (8 significant bits hold the
integers up to 256).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from spec.choices import Choices
from spec.formats import FORMATS, rounded
from spec.notation import DTYPES, Array
from spec.rows import ALIKE, LATTICE, Numbers, Shape, cut, in_a_row, largest, lattice, normal
from spec.sizes import Shapes
from spec.stream import Stream, seed_of

DRAWN_ENTRY_BY_ENTRY = 160  # problems of at most so many numbers are

Entries = tuple[Array, Array, Array, Array]
Arrays = Sequence[Array]
Change = Callable[[int, Arrays], None]  # takes a seed

# The largest raw score |<q, k>| and the largest entry of problems in each format. float16 ends at
# 65504, and an implementation with `eager` rounding stores scores, <dout, v> and their sums in it.
LARGEST_SCORE = dict.fromkeys(DTYPES, 2.0**18) | {"float16": 2.0**12}
LARGEST_ENTRY = dict.fromkeys(DTYPES, 2.0**20) | {"float16": 2.0**3}
# The same where scores are as large as possible: a tenth of the largest number leaves room for the
# difference of two, for powers of two, and for a running maximum that starts from such a number.
# In float64, the sums in an error bound need room as well.
VAST = {name: x.max / 10 for name, x in FORMATS.items()} | {"float64": 2.0**1012}


def as_drawn(seed: int, arrays: Arrays) -> None:
    """The numbers unchanged, of the same kind in every array."""


def sharp(seed: int, arrays: Arrays) -> None:
    """Scores of about 1e2, 1e3 or 1e5 in magnitude, so that few keys matter to a query."""
    q, *_ = arrays
    q *= 10.0 ** Stream(seed).choice([2, 3, 5])
    q /= max(1, q.shape[-1]) ** 0.5


def low(seed: int, arrays: Arrays) -> None:
    """Every score far below zero, near -1e2, -1e3 or -1e5, and close together."""
    q, k, *_ = arrays
    reach = 10.0 ** Stream(seed).choice([2, 3, 5, 5]) * max(1, q.shape[-1]) ** 0.5
    q[..., 1:] /= 4
    q[..., :1] = 8
    k[..., :1] = -reach / 8


def ascending(seed: int, arrays: Arrays) -> None:
    """Scores that rise (or fall) from key to key, so that a running maximum keeps changing."""
    q, k, *_ = arrays
    keys = k.shape[-2]
    k[..., 0] = np.arange(keys) / 2 - keys // 2 / 2
    q[..., 0] = Stream(seed).choice([-2.0, 1.0, 2.0])


def ahead(seed: int, arrays: Arrays) -> None:
    """One key far ahead of the others, so that the weights are nearly one-hot."""
    chance, (q, k, *_) = Stream(seed), arrays
    if k.shape[-2]:
        q[..., 0] = 8
        k[..., chance.below(k.shape[-2]), 0] = chance.choice([4, 16, 64])


def offset(seed: int, arrays: Arrays) -> None:
    """A large common offset in every key and every value, which must cancel."""
    chance, (_, k, v, _) = Stream(seed), arrays
    k += chance.choice([-64, 64])
    v += chance.choice([-128, 128])


def tiny(_: int, arrays: Arrays) -> None:
    """Entries of v and dout near 1e-3 and scores near zero, so that results are small."""
    for x, divisor in zip(arrays, (64, 64, 1024, 1024), strict=True):
        x /= divisor


def vast(seed: int, arrays: Arrays) -> None:
    """Scores as large as the format allows, of either sign or all below zero."""
    q, k, *_ = arrays
    if Stream(seed).random() < 0.5:
        np.abs(q, out=q)
        np.negative(np.abs(k), out=k)
    q *= 2.0**511
    k *= 2.0**511


# Numbers in a row, and how they are changed once they are cut into q, k, v and dout.
FAMILIES: Mapping[str, tuple[Numbers, Change]] = {
    **{name: (numbers, as_drawn) for name, numbers in ALIKE.items()},
    "sharp": (normal, sharp),
    "low": (normal, low),
    "ascending": (normal, ascending),
    "ahead": (normal, ahead),
    "offset": (lattice, offset),
    "tiny": (normal, tiny),
    "vast": (normal, vast),
}
EXACT = ("lattice", "ties")
ALL = tuple(name for name in FAMILIES if name != "vast")


def entries(family: str, seed: int, shapes: Shapes, *, scale: float = 1.0, dtype: str) -> Entries:
    """q, k, v and dout of a family, as numbers of `dtype`, inside the domain."""
    numbers, change = FAMILIES[family]
    found = in_a_row(numbers, seed, sum(map(math.prod, shapes)))
    factor = shapes[0][-1] * max(1.0, abs(scale))  # no |<q, k>| exceeds size^2 times this
    most, score, size = LARGEST_ENTRY[dtype], LARGEST_SCORE[dtype], largest(numbers, len(found))
    if change is not as_drawn or size > most / 8 or size * size * factor > score / 2:
        change(seed, arrays := cut(found, shapes))
        size = _size(found)
        vast = family == "vast"
        _bound_entries(arrays, size, most, VAST[dtype] ** 0.5 if vast else most)
        if vast or size * size * factor > score / 2:
            _bound_scores(arrays, scale, VAST[dtype] if vast else score)
    found = found if family in EXACT or dtype == "float64" else rounded(found, dtype)
    found.setflags(write=False)
    q, k, v, dout = cut(found, shapes)
    return q, k, v, dout


def _bound_entries(arrays: Arrays, size: float, most: float, most_qk: float) -> None:
    """Multiply each of the arrays by a power of two if it would leave the domain.

    size: the largest of all entries. most: the largest allowed entry of v; that of dout is an
    eighth of it, as gradients are sums over many queries. most_qk: the same for q and k.
    """
    q, k, v, dout = arrays
    for x, bound in ((q, most_qk), (k, most_qk), (v, most), (dout, most / 8)):
        if size > bound:
            x[...] = no_larger(x, bound)


def _bound_scores(arrays: Arrays, scale: float, score: float) -> None:
    """Multiply q by a power of two if some |<q, k>| may be larger than `score`."""
    q, k, *_ = arrays
    reach = _longest(q) * _longest(k) * max(1.0, abs(scale))  # bounds every |<q, k>|
    if reach > score:
        q *= _power_of_two(score / reach)


def drawn(
    choices: Choices,
    families: Sequence[str],
    shapes: Sequence[Shape],
    seeded: Callable[[str, int, Any], Iterable[Array]],
    few: int = DRAWN_ENTRY_BY_ENTRY,
    bits: int = 32,
) -> Iterable[Array]:
    """Arrays of these shapes, drawn entry by entry if they are few and exact, so that they shrink.

    Otherwise, what `seeded` makes of a family, a seed and the shapes.
    """
    family = choices.vary(choices.pick(families), families)
    count = sum(map(math.prod, shapes))
    if family not in EXACT or count > few:
        return seeded(family, choices.seed(bits), shapes)
    return cut(BYTES[np.frombuffer(choices.octets(count), np.uint8)], shapes)


def _lattice_of_bytes() -> Array:
    """Byte b as a lattice number, simpler numbers first: 0, 1, -1, 2, -2, ..., then fractions."""
    simple = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 4.0, -4.0, 3.0, -3.0]
    rest = sorted((i / LATTICE for i in range(-64, 65) if i / LATTICE not in simple), key=abs)
    table = simple + rest
    return np.array([table[b] if b < len(table) else table[b % 11] for b in range(256)])


def _size(x: Array) -> float:
    return float(np.maximum.reduce(np.abs(x), axis=None, initial=0.0))


def _longest(x: Array) -> float:
    """The largest Euclidean length of a row."""
    return math.sqrt(np.maximum.reduce(np.vecdot(x, x), axis=None, initial=0.0))


def _power_of_two(x: float) -> float:
    """The largest power of two that is at most x."""
    return 2.0 ** float(np.floor(np.log2(x)))


def no_larger(x: Array, most: float) -> Array:
    """x, multiplied by a power of two if some entry is larger than `most`."""
    size = _size(x)
    return x * _power_of_two(most / size) if size > most else x


BYTES = _lattice_of_bytes()


def bits_of_tf32(like: Array) -> tuple[Array, Array]:
    """1 + 2^-12 everywhere, whose 13 bits TF32 does not keep, and 1 + 2^-8, whose 9 it does.

    A format with fewer bits than TF32, such as bfloat16, does not keep 1 + 2^-8 either.
    """
    return np.full_like(like, 1 + 2.0**-12), np.full_like(like, 1 + 2.0**-8)


def eighths(*shape: int, seed: int = 0) -> Array:
    """Eighths between -1 and 1, always the same for a shape and seed; exact in every dtype."""
    return Stream(seed, seed_of(str(shape))).integers(-8, 9, shape) / 8
