"""Numbers from a seed: the words that are published, and what is made of them, bit by bit."""

import hashlib
from collections import Counter
from math import fsum, sqrt
from statistics import NormalDist

import numpy as np
import pytest

from spec.stream import AHEAD, MASK, Stream, quantiles, seed_of

# What the authors publish with their code (Random123, kat_vectors), by counter and key.
PUBLISHED = {
    ((0, 0, 0, 0), (0, 0)): (
        (0x16554D9ECA36314C, 0xDB20FE9D672D0FDC, 0xD7E772CEE186176B, 0x7E68B68AEC7BA23B)
    ),
    ((MASK, MASK, MASK, MASK), (MASK, MASK)): (
        (0x87B092C3013FE90B, 0x438C3C67BE8D0224, 0x9CC7D7C69CD777B6, 0xA09CAEBF594F0BA0)
    ),
    (
        (0x243F6A8885A308D3, 0x13198A2E03707344, 0xA4093822299F31D0, 0x082EFA98EC4E6C89),
        (0x452821E638D01377, 0xBE5466CF34E90C6C),
    ): ((0xA528F45403E61D95, 0x38C72DBD566E9788, 0xA5A1610E72FD18B5, 0x57BD43B5E52B7FE6)),
}


def philox(counter: tuple[int, ...], key: tuple[int, ...]) -> tuple[int, ...]:
    """A block of Philox 4x64-10, as its paper defines it."""
    (a, b, c, d), (x, y) = counter, key
    for _ in range(10):
        p, q = 0xD2E7470EE14C6C93 * a, 0xCA5A826395121157 * c
        a, b, c, d = (q >> 64) ^ b ^ x, q & MASK, (p >> 64) ^ d ^ y, p & MASK
        x, y = (x + 0x9E3779B97F4A7C15) & MASK, (y + 0xBB67AE8584CAA73B) & MASK
    return a, b, c, d


def test_words_are_those_of_the_generator() -> None:
    for (counter, key), block in PUBLISHED.items():
        assert philox(counter, key) == block
    for seed, purpose in ((0, 0), (5, 3), (-1, 2**64 + 7)):
        blocks = [philox((n, 0, 0, 0), (seed & MASK, purpose & MASK)) for n in range(1, 11)]
        words = [word for block in blocks for word in block]
        assert Stream(seed, purpose).words(40).tolist() == words
        one = Stream(seed, purpose)
        assert [one.word() for _ in range(AHEAD)] == words[:AHEAD]
        assert one.words(8).tolist() == words[AHEAD:]


def digest(x: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(x.astype(x.dtype.newbyteorder("<")))).hexdigest()[:8]


def test_known_answers() -> None:
    """A number that changes here changes every problem: certificates and scripts say others."""
    s = Stream(2026, 11)
    assert s.word() == 13545938570399824554
    assert [s.below(10) for _ in range(8)] == [6, 0, 4, 1, 3, 6, 6, 9]
    assert [s.randrange(-3, 4) for _ in range(8)] == [-3, -2, 3, 1, 2, 3, -1, 1]
    assert s.integers(0, 6, (2, 3)).tolist() == [[2, 0, 4], [4, 5, 5]]
    assert s.integers(np.array([0, 10]), np.array([2, 1000])).tolist() == [0, 349]
    assert s.random() == 0.8189322347176033
    assert s.random(2).tolist() == [0.5501706316719346, 0.6103840774806324]
    assert s.normal(3).tolist() == [-1.3485226876604517, 0.16780828082748167, 3.8453470106880534]
    assert s.choice("abcde") == "a"
    assert s.choices((1.5, -2.0), 2, 2).tolist() == [[1.5, -2.0], [-2.0, -2.0]]
    assert s.permutation(6).tolist() == [5, 3, 4, 2, 1, 0]
    assert s.bytes(5).hex() == "bdf0e886fc"
    assert seed_of("0 K2 float32") == 6660669613508712072
    assert digest(Stream(0).normal(1000)) == "23f1abae"
    assert digest(quantiles()) == "e14388af"


def test_words_of_a_run_that_is_not_whole_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 3 * 2^61 integers two runs are whole; of 2^62 all runs are."""
    end = 3 * 2**61
    words = [MASK, 2 * end, 2 * end - 1, MASK]
    monkeypatch.setattr(Stream, "word", lambda _: words.pop(0))
    assert Stream(0).below(end) == end - 1
    assert Stream(0).below(2**62) == 2**62 - 1
    rows = [np.array(row, np.uint64) for row in ([MASK, 7, end + 1], [2 * end], [1])]
    monkeypatch.setattr(Stream, "words", lambda *_: rows.pop(0))
    assert Stream(0).integers(-5, end - 5, 3).tolist() == [-4, 2, -4]


def test_no_integer_lies_in_an_empty_interval() -> None:
    for low, high in ((0, 0), (3, 2)):
        with pytest.raises(ValueError, match="no integer lies"):
            Stream(0).randrange(low, high)
        with pytest.raises(ValueError, match="no integer lies"):
            Stream(0).integers(low, high, 2)
    assert Stream(0).integers(0, np.zeros(0, int)).shape == (0,)


def test_integers_are_equally_likely() -> None:
    """Of 7 values in 70,000 none is five standard deviations from its share; nor is an order."""
    for found in (Stream(1).integers(0, 7, 70_000), [Stream(s).below(7) for s in range(70_000)]):
        counted = Counter(np.asarray(found).tolist())
        assert sorted(counted) == [*range(7)]
        assert max(abs(x - 10_000) for x in counted.values()) < 5 * sqrt(70_000 * 6 / 49)
    s = Stream(1)
    orders = Counter(tuple(s.permutation(3).tolist()) for _ in range(6_000))
    assert len(orders) == 6
    assert max(abs(x - 1_000) for x in orders.values()) < 5 * sqrt(6_000 * 5 / 36)


def test_normal_numbers_are_normal() -> None:
    """Kolmogorov's distance of 2^18 is what chance makes of it, and no last bit is always zero."""
    x = np.sort(Stream(3).normal(2**18))
    below = np.array([NormalDist().cdf(v) for v in x[::64]])
    apart = np.abs(below - (np.arange(0, len(x), 64) + 0.5) / len(x)).max()
    assert apart * sqrt(len(x)) < 1.63  # exceeded once in a hundred
    assert abs(x.var() - 1) < 5 * sqrt(2 / len(x))
    assert len(np.unique(x)) == len(x)
    assert np.any(np.frexp(x)[0] * 2.0**53 % 2)


def test_no_quantile_depends_on_the_last_digits_of_a_logarithm() -> None:
    """None lies nearer to half a unit than 1e-4 of it, which is 1e8 times the error of one."""
    found = [NormalDist().inv_cdf((i + 0.5) / 4096) for i in range(4096)]
    unit = 2**17 / sqrt(fsum(x * x for x in found) / 4096)
    assert min(abs(x * unit % 1 - 0.5) for x in found) > 1e-4


def test_seeds_that_are_neighbours_have_nothing_in_common() -> None:
    """No correlation, of one seed's numbers or with the next one's, is beyond what chance makes."""
    found = np.array([Stream(seed).normal(6) for seed in range(20_000)])
    within, next_one = found.T @ found, found[1:].T @ found[:-1]
    apart = np.concatenate([within[~np.eye(6, dtype=bool)], next_one.ravel()])
    assert np.abs(apart).max() < 5 * len(found) ** 0.5
    assert np.abs(found.sum(axis=0)).max() < 5 * len(found) ** 0.5
