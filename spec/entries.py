"""What the entries of a problem can be: families of numbers, each with what it is good for.

Every family fills float64 arrays from a seeded source; `entries` then rounds
them to the format under test and keeps them in the *domain*, where nothing that
a correct implementation computes can overflow. Nothing is drawn and thrown
away: what would leave the domain is multiplied by a power of two that keeps it
in, so its digits stay.

The lattice is the family to move problems on: integers up to 64 over 16, of
which sums of two and shifts by 4 are exact in every format, bfloat16 included
(8 significant bits hold the integers up to 256).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from spec.choices import Choices
from spec.formats import FORMATS, rounded
from spec.notation import DTYPES, Array
from spec.sizes import Shapes

LATTICE = 16.0  # the lattice is the integers over this
DRAWN_ENTRY_BY_ENTRY = 160  # a problem of at most so many numbers is

Chance = np.random.Generator
Shape = tuple[int, ...]
Entries = tuple[Array, Array, Array, Array]
Numbers = Callable[[Chance, Shape], Array]

# The largest raw score |<q, k>| and the largest entry that each format's problems have. float16
# ends at 65504, and an `eager` implementation stores scores, <dout, v> and sums of them in it.
LARGEST_SCORE = dict.fromkeys(DTYPES, 2.0**18) | {"float16": 2.0**12}
LARGEST_ENTRY = dict.fromkeys(DTYPES, 2.0**20) | {"float16": 2.0**3}
# The same where scores are as large as can be: a tenth of the largest number leaves room for the
# difference of two, for powers of two, and for whoever counts a maximum of none as one of these.
# In float64 there has to be room in the sums of a budget as well.
VAST = {name: x.max / 10 for name, x in FORMATS.items()} | {"float64": 2.0**1012}


def lattice(chance: Chance, shape: Shape) -> Array:
    """Multiples of 1/16 in [-4, 4]: sums and shifts are exact."""
    return chance.integers(-64, 65, shape) / LATTICE


def ties(chance: Chance, shape: Shape) -> Array:
    """-1, 0 and 1, so that many scores are equal and many entries are zero."""
    return chance.integers(-1, 2, shape).astype(float)


def normal(chance: Chance, shape: Shape) -> Array:
    """Standard normal entries, as in most tests elsewhere."""
    return chance.standard_normal(shape)


def heavy(chance: Chance, shape: Shape) -> Array:
    """Heavy tails: a few entries far larger than all others, as trained networks have."""
    return chance.standard_t(2, shape)


def _each(numbers: Numbers, chance: Chance, shapes: Shapes) -> Entries:
    q, k, v, dout = _cut(numbers(chance, (sum(map(math.prod, shapes)),)), shapes)
    return q, k, v, dout


def _cut(numbers: Array, shapes: Sequence[Shape]) -> list[Array]:
    """Arrays of these shapes, of numbers in a row."""
    ends = accumulate(map(math.prod, shapes), initial=0)
    return [numbers[a:b].reshape(x) for (a, b), x in zip(pairwise(ends), shapes, strict=True)]


def sharp(chance: Chance, shapes: Shapes) -> Entries:
    """Scores of about 1e2, 1e3 or 1e5 in size, where only few keys matter to a query."""
    q, k, v, dout = _each(normal, chance, shapes)
    return q * 10.0 ** chance.choice([2, 3, 5]) / max(1, shapes[0][-1]) ** 0.5, k, v, dout


def low(chance: Chance, shapes: Shapes) -> Entries:
    """Every score far below zero, near -1e2, -1e3 or -1e5, and close together."""
    q, k, v, dout = _each(normal, chance, shapes)
    reach = 10.0 ** chance.choice([2, 3, 5, 5]) * max(1, shapes[0][-1]) ** 0.5
    q[..., 1:] /= 4
    q[..., :1] = 8
    k[..., :1] = -reach / 8
    return q, k, v, dout


def ascending(chance: Chance, shapes: Shapes) -> Entries:
    """Scores that rise (or fall) from key to key, so that an online maximum never rests."""
    q, k, v, dout = _each(normal, chance, shapes)
    keys = shapes[1][-2]
    k[..., 0] = np.arange(keys) / 2 - keys // 2 / 2
    q[..., 0] = chance.choice([-2.0, 1.0, 2.0])
    return q, k, v, dout


def ahead(chance: Chance, shapes: Shapes) -> Entries:
    """One key far ahead of the others: the weights are nearly one-hot."""
    q, k, v, dout = _each(normal, chance, shapes)
    if shapes[1][-2]:
        q[..., 0] = 8
        k[..., chance.integers(shapes[1][-2]), 0] = chance.choice([4, 16, 64])
    return q, k, v, dout


def offset(chance: Chance, shapes: Shapes) -> Entries:
    """A large common offset in every key and every value, which must cancel."""
    q, k, v, dout = _each(lattice, chance, shapes)
    return q, k + chance.choice([-64, 64]), v + chance.choice([-128, 128]), dout


def tiny(chance: Chance, shapes: Shapes) -> Entries:
    """Entries of v and dout near 1e-3, scores near zero: small results are results."""
    q, k, v, dout = _each(normal, chance, shapes)
    return q / 64, k / 64, v / 1024, dout / 1024


def vast(chance: Chance, shapes: Shapes) -> Entries:
    """Scores as large as the format can take, of either sign or all below zero."""
    q, k, v, dout = _each(normal, chance, shapes)
    if chance.random() < 0.5:
        q, k = np.abs(q), -np.abs(k)
    return q * 2.0**511, k * 2.0**511, v, dout


ALIKE: Mapping[str, Numbers] = {  # in every array
    "lattice": lattice,
    "ties": ties,
    "normal": normal,
    "heavy": heavy,
}
FAMILIES: Mapping[str, Callable[[Chance, Shapes], Entries]] = {
    **{name: partial(_each, numbers) for name, numbers in ALIKE.items()},
    "sharp": sharp,
    "low": low,
    "ascending": ascending,
    "ahead": ahead,
    "offset": offset,
    "tiny": tiny,
    "vast": vast,
}
EXACT = ("lattice", "ties")
ALL = tuple(name for name in FAMILIES if name != "vast")


def entries(family: str, seed: int, shapes: Shapes, *, scale: float = 1.0, dtype: str) -> Entries:
    """q, k, v and dout of a family, as numbers of `dtype`, inside the domain."""
    found = FAMILIES[family](np.random.default_rng(seed), shapes)
    most, score = LARGEST_ENTRY[dtype], LARGEST_SCORE[dtype]
    size = _size(np.concatenate(found, axis=None))
    reach = size * size * shapes[0][-1] * max(1.0, abs(scale))  # no |<q, k>| is larger
    if family == "vast":
        found = _inside(found, scale, most, VAST[dtype] ** 0.5, VAST[dtype])
    elif size > most / 8 or reach > score / 2:
        found = _inside(found, scale, most, most, score)
    q, k, v, dout = _cut(rounded(np.concatenate(found, axis=None), dtype), shapes)
    return q, k, v, dout


def _inside(found: Entries, scale: float, most: float, most_qk: float, score: float) -> Entries:
    """The arrays, each times a power of two if it would leave the domain.

    most: the largest entry of v; of dout, as gradients are sums over many queries, an eighth of
    that; most_qk: of q and k. score: the largest |<q, k>|.
    """
    q, k, v, dout = found
    q, k = no_larger(q, most_qk), no_larger(k, most_qk)
    reach = _longest(q) * _longest(k) * max(1.0, abs(scale))  # bounds every |<q, k>|
    q = q * _power_of_two(score / reach) if reach > score else q
    return q, k, no_larger(v, most), no_larger(dout, most / 8)


def drawn(
    choices: Choices,
    families: Sequence[str],
    shapes: Sequence[Shape],
    seeded: Callable[[str, int, Any], Iterable[Array]],
    few: int = DRAWN_ENTRY_BY_ENTRY,
    bits: int = 32,
) -> Iterable[Array]:
    """Arrays of these shapes: entry by entry if they are few and exact, so that they shrink to
    zeros; else what `seeded` makes of a family, a seed and the shapes.
    """
    family = choices.vary(choices.pick(families), families)
    count = sum(map(math.prod, shapes))
    if family not in EXACT or count > few:
        return seeded(family, choices.seed(bits), shapes)
    return _cut(BYTES[np.frombuffer(choices.octets(count), np.uint8)], shapes)


def _lattice_of_bytes() -> Array:
    """Byte b as a lattice number, simpler numbers first: 0, 1, -1, 2, -2, ..., then fractions."""
    simple = [0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 4.0, -4.0, 3.0, -3.0]
    rest = sorted((i / LATTICE for i in range(-64, 65) if i / LATTICE not in simple), key=abs)
    table = simple + rest
    return np.array([table[b] if b < len(table) else table[b % 11] for b in range(256)])


def _size(x: Array) -> float:
    return float(np.abs(x).max(initial=0.0))


def _longest(x: Array) -> float:
    """The largest Euclidean length of a row."""
    return float(np.sqrt((x * x).sum(axis=-1)).max(initial=0.0))


def _power_of_two(x: float) -> float:
    """The largest power of two that is at most x."""
    return 2.0 ** float(np.floor(np.log2(x)))


def no_larger(x: Array, most: float) -> Array:
    """x, times a power of two if some entry is larger than that."""
    size = _size(x)
    return x * _power_of_two(most / size) if size > most else x


BYTES = _lattice_of_bytes()


def eighths(*shape: int, seed: int = 0) -> Array:
    """Eighths between -1 and 1, the same on every day; every dtype has them exactly."""
    return np.random.default_rng((seed, *shape)).integers(-8, 9, shape) / 8
