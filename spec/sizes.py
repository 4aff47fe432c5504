"""The lengths of the axes of a problem.

Bugs show at the lengths at which code changes its path: one, two and three; the edges of tiles, one
less and one more; widths that are no power of two; more queries than keys and fewer; groups of
heads of every kind; and, now and then, something long. A long axis comes with short others, so that
a problem stays cheap. Bugs that need two long axes are looked for at the edges of tiles.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal, NamedTuple, Self

from spec.choices import Choices
from spec.notation import Array

Reach = Literal["small", "quick", "standard", "deep"]
Tiled = Literal["", "keys", "queries", "ends", "one query", "thousands", "thousands of queries"]
Shapes = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]

SMALL = (1, 2, 3, 4, 5)
EDGES = (7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)  # where tiles end
LONG = (257, 320, 513, 769, 1025, 1300)
WIDTHS = (1, 2, 3, 4, 5, 8, 16)
WIDE = (63, 64, 65, 72, 80, 128)
SHARING = (1, 2, 3, 7)  # query heads to a key head
MOST = {"N": 130, "M": 130, "H": 20, "B": 8}  # the largest lengths that take turns
EACH_WIDTH = range(1, 67)
# Limits of B H N M, and of the entries of an array, unless the least sizes have more: more is slow,
# and finds little.
MOST_SCORES, MOST_ENTRIES = 2**15, 2**18

EXTENTS: Mapping[Reach, tuple[str, ...]] = {
    "small": ("small",),  # for a slow implementation
    "quick": ("small",) * 6 + ("edge",) * 3 + ("wide",),
    "standard": ("small",) * 10 + ("edge",) * 6 + ("wide",) * 3 + ("long",),
    "deep": ("small",) * 6 + ("edge",) * 8 + ("wide",) * 3 + ("long",) * 3,
}
TILED = (*EDGES[3:], 47, 48, 49, 95, 96, 97, 191, 192, *LONG[:3])
THOUSANDS = (1025, 1300, 2049)
TILES: Mapping[Tiled, tuple[int, ...]] = {
    "keys": TILED,
    "queries": TILED,
    "ends": (65, 129, 257, 513, 1025, 1300),
    "one query": TILED,
    "thousands": THOUSANDS,
    "thousands of queries": THOUSANDS,
}
# The longest sequence of each profile, less one, and of how many problems one has it. As it is one
# more than a power of two, the last of equal parts is a single key, whatever the size of the parts.
LONGEST: Mapping[Reach, tuple[int, int]] = {
    "small": (2**4, 4),
    "quick": (2**12, 4),
    "standard": (2**17, 25),
    "deep": (2**20, 50),
}
SHORTEST = 5  # as a power of two, of those that are drawn
WIDEST = 32  # entries of a key and its value; of wider ones there are fewer
SHARES = tuple(range(2**12))  # of the way from a power of two to the next
OF_QUERIES = ("queries", "thousands of queries")
LENGTHS: Mapping[str, tuple[int, ...]] = {
    "small": SMALL,
    "wide": SMALL,
    "modest": SMALL + EDGES[:9],
    "edge": SMALL + EDGES,
    "long": SMALL + LONG,
}


def each(most: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Every length of some axes, one after the other: an axis, and its length."""
    return tuple((axis, size + 1) for axis, longest in most.items() for size in range(longest))


EACH = each(MOST)


class Sizes(NamedTuple):
    """The lengths of the axes of a problem."""

    B: int
    H: int
    G: int
    N: int
    M: int
    D: int
    E: int

    @classmethod
    def of(cls, q: Array, k: Array, v: Array) -> Self:
        """The sizes of q (B, H, N, D), k (B, G, M, D) and v (B, G, M, E)."""
        B, H, N, D = q.shape
        return cls(B, H, k.shape[1], N, k.shape[2], D, v.shape[3])

    @property
    def scores(self) -> tuple[int, int, int, int]:
        """The shape of the scores."""
        return self.B, self.H, self.N, self.M

    @property
    def shapes(self) -> Shapes:
        """The shapes of q, k, v and dout."""
        return (
            (self.B, self.H, self.N, self.D),
            (self.B, self.G, self.M, self.D),
            (self.B, self.G, self.M, self.E),
            (self.B, self.H, self.N, self.E),
        )


class Limits(NamedTuple):
    """The sizes that may be drawn.

    least: the smallest B, H, N, M. square: N = M. modest: no N or M over 33.
    tiled: enough keys for several tiles and few queries, or the other way round; "ends": a few more
    keys than whole tiles hold; "thousands": more than one thousand, or two.
    grouped: G < H, G = H, or (None) either. free_width: E may differ from D. empty: B, N, M or E
    may be zero. wide: D of 63 and more, N and M small.
    batches: B may be more than one. several: B and H may. queries: N may. lengths, widths: N and M,
    and D and E, are multiples of this; a single query is exempt. each: all sizes take turns.
    single: of so many problems, one has a single query and enough keys for several tiles.
    """

    reach: Reach
    least: tuple[int, int, int, int]
    square: bool
    modest: bool
    tiled: Tiled
    grouped: bool | None
    free_width: bool
    empty: bool
    wide: bool = False
    batches: bool = True
    several: bool = True
    queries: bool = True
    lengths: int = 1
    widths: int = 1
    each: bool = False
    single: int = 0


def sizes(choices: Choices, limits: Limits) -> Sizes:
    """Lengths of all axes, which shrink to the least."""
    if limits.each and limits.reach != "small":
        return _each(choices, limits)
    if limits.single and choices.pick((*(False,) * (limits.single - 1), True)):
        limits = limits._replace(tiled="one query")
    wide = limits.wide and limits.reach != "small"
    extent = "wide" if wide else choices.pick(EXTENTS[limits.reach])
    lengths = LENGTHS["modest" if limits.modest and extent in ("edge", "long") else extent]
    width = partial(up, limits.widths)
    D = choices.pick(width(WIDE if extent == "wide" else WIDTHS))
    E = choices.pick(width((D, *WIDTHS))) if limits.free_width else D
    N, M = _lengths(choices, limits, lengths)
    room = _room(N * M, max(N, M) * max(D, E)) if limits.several else 1
    B = max(limits.least[0], min(choices.pick((1, 2, 3)), room if limits.batches else 1))
    G, sharing = _heads(choices, limits, max(1, room // B))
    drawn = Sizes(B, G * sharing, G, N, M, D, E)
    if not limits.empty:
        return drawn
    axes = ("B", "NM") if limits.square else ("B", "N", "M")
    axes = (*axes, "E") if limits.free_width else axes
    without = choices.pick((*("",) * 12, *axes))
    return drawn._replace(**dict.fromkeys(without, 0)) if without else drawn


def _room(scores: int, entries: int) -> int:
    """How many heads there may be in all, if each has so many scores, and entries of an array."""
    return max(1, min(MOST_SCORES // scores, MOST_ENTRIES // entries))


def long(choices: Choices, reach: Reach, width: int) -> tuple[int, bool]:
    """A long length for rows of so many entries, and whether it is the longest of the profile.

    The longest takes its turn. Of the others, half lie within three of a power of two, and half
    anywhere up to the next one; the smaller the power, the more of them.
    """
    most, turns = LONGEST[reach]
    while most * width > WIDEST * LONGEST[reach][0]:
        most //= 2
    if choices.turn((True, *(False,) * (turns - 1))):
        return most + 1, True
    powers = range(min(SHORTEST, most.bit_length() - 2), most.bit_length() - 1)
    power = choices.pick([x for place, x in enumerate(powers) for _ in powers[place:]])
    if choices.pick((True, False)):
        return 2**power + choices.pick((1, 0, -1, 2, -2, 3, -3)), False
    return int(2**power * (1 + choices.pick(SHARES) / len(SHARES))), False


def up(number: int, sizes: Sequence[int]) -> tuple[int, ...]:
    """The smallest multiples of a number that are no less than these sizes, each once."""
    if number == 1:
        return tuple(sizes)
    return tuple(dict.fromkeys(_up(number, size) for size in sizes))


def _up(number: int, size: int) -> int:
    return -(-size // number) * number


def _each(choices: Choices, limits: Limits) -> Sizes:
    """Every length, width and number of heads in turn, including unusual ones."""
    axis, size = choices.turn(EACH)
    few = {x: choices.pick(SMALL if x in "NM" else SMALL[:2]) for x in MOST}
    N, M, H, B = (few | {axis: size}).values()
    if limits.square:
        N = M = size if axis in "NM" else N
    N, M = _up(limits.lengths, N) if limits.queries else 1, _up(limits.lengths, M)
    B, H = B if limits.batches and limits.several else 1, H if limits.several else 1
    shared = [x for x in SHARING if H % x == 0] if limits.grouped is not False else [1]
    D, E = choices.turn(EACH_WIDTH), choices.turn(EACH_WIDTH)
    D, E = (_up(limits.widths, x) for x in (D, E if limits.free_width else D))
    return Sizes(B, H, H // choices.pick(shared), N, M, D, E)


def _lengths(choices: Choices, limits: Limits, lengths: tuple[int, ...]) -> tuple[int, int]:
    wanted = partial(up, limits.lengths)
    least_n, least_m, longest = (wanted((x,))[0] for x in (*limits.least[2:], LONG[0]))
    if limits.square:
        both = min(max(least_n, least_m, choices.pick(wanted(lengths))), longest)
        return (both, both) if limits.queries else (1, 1)
    if limits.tiled:
        some = wanted(SMALL if limits.reach == "small" else TILES[limits.tiled])
        few = choices.pick(wanted((1,) if limits.tiled == "one query" else SMALL))
        many = choices.pick(some)
        N, M = (many, few) if limits.tiled in OF_QUERIES else (few, many)
        N, M = max(least_n, N), max(least_m, M)
    else:
        N, M = (choices.pick(wanted(lengths)) for _ in range(2))
        N, M = max(least_n, N), max(least_m, M)
        N = min(N, max(least_n, MOST_SCORES // M // limits.lengths * limits.lengths))
    return N if limits.queries else 1, M


def _heads(choices: Choices, limits: Limits, room: int) -> tuple[int, int]:
    """G, and how many query heads share a key head."""
    least = limits.least[1]
    G = min(choices.pick((1, 2, 3)), room)
    if limits.grouped is False:
        return max(G, least), 1
    ratios = SHARING[1:] if limits.grouped else (1, *SHARING)
    sharing = choices.pick([r for r in ratios if r <= room] or ratios[:1])
    return max(G, -(-least // sharing)), sharing
