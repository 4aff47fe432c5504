"""The feed-forward network: every clause holds for what is right."""

from functools import cache
from importlib.util import find_spec

import pytest

import implementations.feed_forward
from spec import about
from spec.feed_forward.notation import FeedForward
from spec.feed_forward.plug import feed_forward
from tests.judging import QUICK, bound, broken
from tests.night import usual

RIGHT = ["numpy", *(("torch", "module") if find_spec("torch") else ())]
CASES = [
    pytest.param(name, dtype, id=f"{name}-{dtype}")
    for name in RIGHT
    for dtype in ("float64", "float32", "float16", "bfloat16")
    if (name, dtype) != ("numpy", "bfloat16")
]

BY_DEFAULT = {
    ("numpy", "float64"),
    ("numpy", "float16"),
    ("torch", "float32"),
    ("module", "bfloat16"),
}
USUAL = usual(CASES, lambda *values: values in BY_DEFAULT)


@cache
def right(name: str) -> FeedForward:
    if name == "numpy":
        return feed_forward(implementations.feed_forward.feed_forward)
    from implementations import feed_forward_torch

    targets = {"torch": feed_forward_torch.feed_forward, "module": feed_forward_torch.FeedForward}
    return feed_forward(targets[name])


@pytest.mark.parametrize(("name", "dtype"), USUAL)
def test_every_clause_holds_for_what_is_right(name: str, dtype: str) -> None:
    assert bound(right(name)) == [*about("feed-forward").values()]
    assert not broken(right(name), dtype, QUICK)


@pytest.mark.deep
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize(("name", "dtype"), CASES)
def test_there_are_no_false_alarms(name: str, dtype: str, seed: int) -> None:
    assert not broken(right(name), dtype, seed=seed)
