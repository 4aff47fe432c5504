"""A runner may learn of any number of arrays, whether a call uses them or not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from spec.boundary.connection import MANY, Connection, Form
from spec.boundary.runners import Zygote

COUNT = "def count(*arrays):\n    return len(arrays)\n"
CALL = {"of": 0, "words": {}, "running": "float64", "warnings": "ignore"}
BYTES = 8


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Connection]:
    (tmp_path / "count.py").write_text(COUNT)
    zygote = Zygote(["numpy"], str(tmp_path))
    found = zygote.runner()
    with found.talk, found.block:
        assert "ok" in found.ask("start", target=f"{tmp_path}/count.py:count", folder=str(tmp_path))
        assert "ok" in found.ask("library", name="numpy", device="cpu")
        yield found
    zygote.end()


def form(length: int) -> Form:
    return ("float64", length, (length,), None, 0)


def test_thousands_of_arrays_that_no_call_gets_are_told_of(runner: Connection) -> None:
    """As of problems whose options the target has no word for: they are refused before a call."""
    runner.refills = True
    for length in range(1, 4000):
        runner.leave(runner.spot(form(length), BYTES * length, "float64"))
    kept = [runner.spot(form(length), BYTES * length, "float64") for length in (1, 2000, 3999)]
    answer = runner.ask("call", places=[{"r": spot.id} for spot in kept], **CALL)
    assert answer["ok"]["is"] == len(kept)
    assert not runner.new


def test_thousands_of_arrays_are_dropped_after_they_were_known(runner: Connection) -> None:
    spots = [runner.spot(form(length), BYTES * length, "float64") for length in range(1, 10 * MANY)]
    for spot in spots[1:]:
        runner.leave(spot)
    assert runner.ask("call", places=[{"r": spots[0].id}], **CALL)["ok"]["is"] == 1
    assert not runner.free
    gone = runner.ask("call", places=[{"r": spots[-1].id}], **CALL)
    assert "KeyError" in str(gone["no"])
