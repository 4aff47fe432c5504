"""A ring over processes equals one process, however tokens are spread, and reports a dead rank.

Ranks are copies of one process (`copied_ranks`); a copied process starts its own from nothing.
"""

import os
import subprocess
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from implementations import dense, ring
from spec import certify
from spec.notation import Array
from tests.implementations.copied_ranks import COPYING
from tests.night import deep

pytestmark = pytest.mark.torch
LENGTHS = [(7, 9), (16, 16), (1, 3), (3, 1), (5, 2), (0, 2), (2, 0)]  # few divisible by the ranks
SAID: dict[str, Any] = {
    "is_causal": True,
    "window_size": (4, 2),
    "enable_gqa": True,
    "softcap": 2.0,
    "sinks": np.array([0.0, 1.0, -np.inf, 3.0]),
    "alibi_slopes": np.array([0.5, 0.25, 0.1, 0.0]),
}


def arrays(N: int, M: int) -> list[Array]:
    """dout, queries, keys and values, for two sequences, four heads and two key heads."""
    chance = np.random.default_rng((N, M))
    shapes = ((2, 4, N, 3), (2, 4, N, 8), (2, 2, M, 8), (2, 2, M, 3))
    return [chance.standard_normal(shape) for shape in shapes]


# With two ranks, the one before is the next one. Any spread is one of places, which travel.
EACH = [(3, "zig-zag"), *map(deep, [(2, "contiguous"), (2, "striped"), (4, "zig-zag")])]


@pytest.fixture(autouse=True)
def copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("implementations.ranks.subprocess", COPYING)


@pytest.fixture(params=EACH, ids=str, scope="module")
def attend(request: pytest.FixtureRequest) -> Iterator[Any]:
    found: Any = ring.over(*request.param)
    yield found
    found.pool.end()


@pytest.fixture(scope="module")
def two() -> Iterator[Any]:
    """Two ranks that whoever needs some may end: the next call starts others, which takes long."""
    yield ring.attend
    vars(ring.attend)["pool"].end()


@pytest.mark.slow
def test_it_is_what_one_process_answers(attend: Any) -> None:
    """The output, the log-sum-exp and every derivative, with all options at once."""
    for N, M in LENGTHS:
        dout, *inputs = arrays(N, M)
        names = ("lse", "backward", "sink_gradient", "slope_gradient")
        got = [attend(*inputs, **SAID), attend.lse(*inputs, **SAID)]
        got += [getattr(attend, x)(dout, *inputs, **SAID) for x in names[1:]]
        want = [dense.attend(*inputs, **SAID), dense.lse(*inputs, **SAID)]
        want += [getattr(dense, x)(dout, *inputs, **SAID) for x in names[1:]]
        for mine, theirs in zip(_flat(got), _flat(want), strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13)


def test_texts_and_places_travel_with_their_tokens(attend: Any) -> None:
    _, *inputs = arrays(6, 7)
    texts = {"query_segments": np.array([[0, 0, 1, 1, -1, 2]] * 2)}
    texts["key_segments"] = np.array([[1, 0, 0, 2, 2, -1, 1]] * 2)
    places = {"query_positions": np.arange(6)[None] + np.array([[3], [0]])}
    found = attend(*inputs, is_causal=True, enable_gqa=True, **texts, **places)
    want = dense.attend(*inputs, is_causal=True, enable_gqa=True, **texts, **places)
    np.testing.assert_allclose(found, want, rtol=1e-12, atol=1e-13)


def test_tokens_are_spread_whatever_their_number() -> None:
    """Each is somewhere, and once."""
    for spread in ring.SHARDINGS.values():
        for length in range(10):
            for ranks in (1, 2, 3, 4):
                parts = spread(length, ranks)
                assert len(parts) == ranks
                assert sorted(np.concatenate(parts).tolist()) == [*range(length)]


def test_a_rank_that_dies_is_an_error_within_seconds_and_no_answer(two: Any) -> None:
    _, *inputs = arrays(7, 9)
    want = two(*inputs, enable_gqa=True)
    two.pool.processes[1].kill()
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="rank 1 of 2 has died"):
        two(*inputs, enable_gqa=True)
    assert time.monotonic() - start < 5
    assert not two.pool.processes
    assert (two(*inputs, enable_gqa=True) == want).all()  # by new ranks


def test_what_is_wrong_is_told_before_anybody_is_asked() -> None:
    attend: Any = ring.over(2, "contiguous")
    _, *inputs = arrays(4, 4)
    for wrong, reason in (
        ({}, "4 query heads cannot share 2 key heads"),
        ({"enable_gqa": True, "window_size": (-1, 0)}, "no negative bound"),
        ({"enable_gqa": True, "query_segments": np.zeros((2, 4), int)}, "or of neither"),
    ):
        with pytest.raises(ValueError, match=reason):
            attend(*inputs, **wrong)
    assert not attend.pool.processes
    with pytest.raises(ValueError, match="spread contiguous, zig-zag, striped, not diagonal"):
        ring.over(2, "diagonal")


@pytest.mark.slow
@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("outputs", [("A1", "A2", "A7"), deep("A")])
def test_it_is_certified(outputs: tuple[str, ...] | str) -> None:
    asked = [*outputs, "C1", "W13", "U12", "Z14", "Y13", "I9", "J9"]
    how: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "clauses": asked}
    certificate = certify("implementations.ring:attend", **how)
    assert certificate.passed, str(certificate)
    assert not any(verdict.refused for verdict in certificate.verdicts)
    holding = {v.clause for v in certificate.verdicts if v.outcome == "holds"}
    assert holding >= {"A1", "A2", "A7", *asked} - {"A"}


@pytest.mark.deep
@pytest.mark.parametrize("sharding", ring.SHARDINGS)
@pytest.mark.parametrize("ranks", [2, 4])
def test_every_way_is_certified(ranks: int, sharding: str) -> None:
    found: Any = ring.over(ranks, sharding)
    try:
        certificate = certify(found, profile="quick", dtypes=("float64", "float32", "float16"))
    finally:
        found.pool.end()
    assert certificate.passed, str(certificate)


@pytest.mark.slow
def test_a_copy_of_a_process_has_ranks_of_its_own(
    two: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else two would write into the same pipes."""
    _, *inputs = arrays(4, 4)
    want = two(*inputs, enable_gqa=True)
    before = [process.pid for process in two.pool.processes]
    reads, writes = os.pipe()
    if not os.fork():
        monkeypatch.setattr("implementations.ranks.subprocess", subprocess)
        found = two(*inputs, enable_gqa=True)
        apart = not {*before} & {process.pid for process in two.pool.processes}
        two.pool.end()
        os.write(writes, b"%d" % ((found == want).all() and apart))
        os._exit(0)
    assert os.read(reads, 1) == b"1"
    assert (two(*inputs, enable_gqa=True) == want).all()
    assert [process.pid for process in two.pool.processes] == before
    os.wait()


def test_a_rank_that_hangs_is_an_error(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, *inputs = arrays(4, 4)
    two(*inputs, enable_gqa=True)
    monkeypatch.setattr("implementations.ranks.PATIENCE", 1.0)
    two.pool.processes[1].send_signal(19)  # SIGSTOP
    with pytest.raises(RuntimeError, match=r"rank [01] of 2 does not answer"):
        two(*inputs, enable_gqa=True)
    assert not two.pool.processes


@pytest.mark.quick("right*")
@pytest.mark.parametrize(
    ("name", "wrong"), [("right", ""), ("without_others", "A3"), deep("at_the_first", "C8")]
)
def test_a_function_of_a_rank_is_judged_as_one_of_whole_arrays(name: str, wrong: str) -> None:
    how: dict[str, Any] = {"backend": "numpy", "layout": "blhd", "lengths": 2, "fail_fast": True}
    asked = [wrong] if wrong else ["A1", "A3", "A4", "C8"]
    target = f"tests.targets.ranked:{name}"
    found = certify(target, profile="quick", dtypes=("float32",), clauses=asked, **how)
    assert found.passed == (not wrong)


def _flat(found: list[Any]) -> list[Array]:
    return [x for one in found for x in (one if isinstance(one, tuple) else (one,))]
