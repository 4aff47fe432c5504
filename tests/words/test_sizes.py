"""Lengths of axes: the edges of every tile are among them, one less and one more."""

from collections import Counter

import pytest

from spec.choices import Numbered
from spec.sizes import EDGES, LENGTHS, OF_QUERIES, SMALL, TILES, Limits, Sizes, sizes

TILES_OF_CODE = (8, 16, 32, 64, 128)
FREE = Limits(
    reach="standard",
    least=(1, 1, 1, 1),
    square=False,
    modest=False,
    tiled="",
    grouped=None,
    free_width=True,
    empty=False,
)


def drawn(limits: Limits, count: int = 2000) -> list[Sizes]:
    """What so many numbers stand for."""
    return [sizes(Numbered(number), limits) for number in range(count)]


@pytest.mark.parametrize("tile", TILES_OF_CODE)
def test_a_tile_is_drawn_full_and_with_one_less_and_one_more(tile: int) -> None:
    around = {tile - 1, tile, tile + 1}
    assert around <= {*EDGES}
    assert around <= {*LENGTHS["edge"]}
    if tile > 8:
        assert all(around <= {*TILES[name]} for name in ("keys", "queries"))


def test_all_edges_come_up_as_lengths_of_queries_and_of_keys() -> None:
    found = drawn(FREE, 6000)
    for axis in "NM":
        count = Counter(getattr(one, axis) for one in found)
        assert {*EDGES, *SMALL} <= count.keys()
        assert min(count[size] for size in EDGES) > 5


@pytest.mark.parametrize("tiled", ["keys", "queries", "ends", "thousands"])
def test_tiles_are_of_the_axis_that_is_asked_for_and_the_other_is_short(tiled: str) -> None:
    found = drawn(FREE._replace(tiled=tiled), 1000)
    long, short = ("N", "M") if tiled in OF_QUERIES else ("M", "N")
    assert {getattr(one, long) for one in found} == {*TILES[tiled]}
    assert {getattr(one, short) for one in found} <= {*SMALL}


@pytest.mark.parametrize(("lengths", "widths"), [(1, 8), (16, 1), (16, 8), (1, 3)])
def test_lengths_and_widths_are_multiples_each_of_its_own_number(lengths: int, widths: int) -> None:
    found = drawn(FREE._replace(lengths=lengths, widths=widths))
    assert {one.N % lengths for one in found} == {one.M % lengths for one in found} == {0}
    assert {one.D % widths for one in found} == {one.E % widths for one in found} == {0}
    if lengths == 1:
        assert {1, 2, 3, 65, 129} <= {one.N for one in found}
    if widths == 1:
        assert {1, 2, 3, 5} <= {one.D for one in found}
