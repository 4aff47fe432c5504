"""Tiles hold what segments let a query see, all of it, and no tile is without any."""

import numpy as np
import pytest

from implementations import tiles, tiling
from implementations.arguments import UNBOUNDED, Sight
from spec.notation import Array

WINDOWS = (Sight(*UNBOUNDED), Sight(None, 0), Sight(9, 4), Sight(150, None))


def rows_of(texts: tiling.Texts | None, N: int) -> list[slice]:
    return list(tiling.blocks_of_rows(N, texts, tiles.QUERIES))


def drawn(seed: int) -> tuple[Array, Array]:
    """Segments in any order, of any length, some of them padding; none of a kind, or no tokens."""
    chance = np.random.default_rng(seed)
    N, M = (int(chance.integers(n)) for n in (700, 1500))
    labels = chance.integers(-2, chance.integers(1, 40), (2, 90))
    size = int(chance.choice([1, 3, 40, 300, 2000]))
    mine, theirs = (np.repeat(x, 1 + chance.integers(size, size=90)) for x in labels)
    mine, theirs = np.resize(mine, N), np.resize(theirs, M)
    return (np.sort(mine), np.sort(theirs)) if chance.random() < 0.3 else (mine, theirs)


@pytest.mark.parametrize("window", WINDOWS)
def test_tiles_hold_what_is_of_one_text(window: Sight) -> None:
    for seed in range(40):
        mine, theirs = drawn(seed)
        (N, M), texts = (len(mine), len(theirs)), tiling.numbered(mine, theirs)
        together = (mine[:, None] == theirs) & (theirs >= 0)
        near = np.zeros((N, M), bool)
        met = np.zeros((N, M), bool)
        rows_before = 0
        for rows in rows_of(texts, N):
            assert rows.start == rows_before
            rows_before = rows.stop
            within = tiling.within_sight(rows, M, window)
            near[rows, within] = True
            for cols, own in tiling.blocks_of_keys(rows, M, window, texts, tiles.KEYS):
                assert within.start <= cols.start < cols.stop <= within.stop
                assert (own is None) == together[rows, cols].all()
                assert together[rows, cols].any()
                met[rows, cols] = True if own is None else own
        assert rows_before == N
        np.testing.assert_array_equal(met, together & near)


@pytest.mark.parametrize("window", WINDOWS)
def test_rows_as_positions_are_tiles_as_without(window: Sight) -> None:
    for N, M in ((700, 1500), (1500, 700)):
        stand = tiling.Places(np.arange(N), np.arange(M))
        for rows in rows_of(None, N):
            plain, placed = (
                list(tiling.blocks_of_keys(rows, M, window, None, tiles.KEYS, x))
                for x in (None, stand)
            )
            assert placed == plain


@pytest.mark.parametrize("window", WINDOWS)
def test_tiles_that_positions_leave_out_or_leave_whole_are_such(window: Sight) -> None:
    """And at least as many are left out as the lowest and the highest tell."""
    left, right, _ = window
    for seed in range(40):
        chance, texts = np.random.default_rng(seed), None
        p, r = (chance.integers(-50, 900, chance.integers(1, 1500)) for _ in range(2))
        if seed % 3:
            p, r = np.sort(p), np.sort(r) if seed % 2 else np.sort(r)[::-1]
        if seed % 5 == 0:
            texts = tiling.numbered(p % 3, r % 3)
        (N, M), stand, away = (len(p), len(r)), tiling.Places(p, r), r - p[:, None]
        near = np.ones((N, M), bool) if left is None else away >= -left
        near = near if right is None else near & (away <= right)
        near = near if texts is None else near & (p[:, None] % 3 == r % 3)
        for rows in rows_of(texts, N):
            met = np.zeros(M, bool)
            for cols, own in tiling.blocks_of_keys(rows, M, window, texts, tiles.KEYS, stand):
                met[cols] = True
                whole = not tiling.cut(*tiling.extents(rows, cols, stand), window)
                assert not (whole and own is None and not near[rows, cols].all())
                assert whole == (near[rows, cols].all()) or texts is not None
                reach = tiling.within_reach(rows, window, stand)
                assert reach[cols].any()
            assert not near[rows][:, ~met].any()


@pytest.mark.parametrize("first", [1, 20, 700, 5000])
def test_tiles_hold_the_first_keys_and_nothing_between_them_and_a_window(first: int) -> None:
    for N, M, places in ((900, 4000, False), (3000, 700, False), (900, 4000, True)):
        p, r = np.arange(N), np.arange(M)
        near = (r >= p[:, None] - 9) | (r < first)
        near &= r <= p[:, None] + 4
        stand = tiling.Places(p, r) if places else None
        for rows in rows_of(None, N):
            found = tiling.blocks_of_keys(rows, M, Sight(9, 4, first), None, 64, stand)
            met = np.zeros(M, bool)
            for cols, _ in found:
                assert not met[cols].any()
                met[cols] = True
            assert not near[rows][:, ~met].any()
            assert met.sum() <= near[rows].any(axis=0).sum() + 3 * 64


def test_texts_one_behind_the_other_are_tiles_without_a_mask() -> None:
    """As many, and as large, as those of texts that have an array each."""
    segments = np.arange(8192) // 128
    for order in (segments, 63 - segments, segments * 5 % 64):
        texts = tiling.numbered(order, order)
        found = [
            (rows, cols, own)
            for rows in rows_of(texts, 8192)
            for cols, own in tiling.blocks_of_keys(rows, 8192, Sight(*UNBOUNDED), texts, tiles.KEYS)
        ]
        alone = [slice(i, i + 128) for i in range(0, 8192, 128)]
        assert found == [(x, x, None) for x in alone]


def test_blocks_are_few_where_texts_are_short() -> None:
    for length in (1, 5, 60, 128, 129, 300):
        segments = np.arange(3000) // length
        blocks = rows_of(tiling.numbered(segments, segments), 3000)
        most = tiles.QUERIES if length > tiling.FEWEST else tiling.FEWEST
        assert max(x.stop - x.start for x in blocks) <= most
        pieces = -(-length // tiles.QUERIES)
        assert len(blocks) <= max(pieces * -(-3000 // length), 3000 // (tiling.FEWEST // 2))


def test_labels_are_numbers_of_any_size() -> None:
    ends = np.iinfo(np.int64)
    mine = np.array([ends.max, ends.min, 0, ends.max])
    texts = tiling.numbered(mine, np.array([0, 255, 255], np.uint8))
    assert texts.mine.tolist() == [2, -1, 0, 2]
    assert texts.theirs.tolist() == [0, 1, 1]
    assert rows_of(None, 600) == [slice(0, 256), slice(256, 512), slice(512, 600)]
