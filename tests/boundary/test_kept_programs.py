"""A program of its own that answers again, and what runners that follow each other share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec.backends.compiled import none, not_compiled, programs
from spec.backends.compiling import compiled
from spec.backends.memory import Laid
from spec.boundary.found import far
from spec.boundary.messages import FarError
from tests.boundary.living import arrays_of, ended

TARGET = """
import os
import sys
import types
from collections import Counter, defaultdict

import numpy as np

torch = types.ModuleType("torch._dynamo.utils")
torch.counters = defaultdict(Counter)

def compiles(query, key, value):
    sys.modules["torch._dynamo.utils"] = torch
    torch.counters["stats"]["unique_graphs"] += 3
    torch.counters["graph_break"]["too many shapes"] += 1
    return value

def count(query, key, value, calls=[]):
    calls.append(1)
    return np.array([len(calls)], query.dtype)

def marks(query, key, value):
    place = os.environ["JAX_COMPILATION_CACHE_DIR"]
    os.makedirs(place, exist_ok=True)
    with open(f"{place}/mark", "a") as file:
        file.write(".")
    return np.array([os.path.getsize(f"{place}/mark")], query.dtype)

def ends(query, key, value):
    os._exit(0)
"""


@pytest.fixture
def target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "mine.py").write_text(TARGET)
    monkeypatch.chdir(tmp_path)
    homes = []

    def found(name: str) -> tuple[Any, Any, list[Any]]:
        one = far(f"mine.py:{name}")
        homes.append(one._home)
        return one, one._home, arrays_of(one.library("numpy", "cpu"))

    yield found
    for home in homes:
        ended(home)


def by_program(target: Any, home: Any, arrays: list[Any]) -> Any:
    with home.program() as program, home.asking(program):
        return target(*arrays)


def test_it_answers_again_for_another_format(target: Any) -> None:
    found = target("count")
    assert [by_program(*found).numbers()[0] for _ in range(3)] == [1, 2, 3]


@pytest.mark.slow
def test_another_takes_its_place_where_it_has_ended(target: Any) -> None:
    ends, home, arrays = target("ends")
    for _ in range(2):
        before = home.kept
        with pytest.raises(FarError, match="it ends its process"):
            by_program(ends, home, arrays)
        assert home.kept is None or home.kept is not before


def test_runners_share_what_they_compile_and_a_program_of_its_own_has_none_of_it(
    target: Any,
) -> None:
    marks, home, arrays = target("marks")
    assert marks(*arrays).numbers()[0] == 1
    home.fresh()
    assert marks(*arrays).numbers()[0] == 2
    assert by_program(marks, home, arrays).numbers()[0] == 1


@pytest.mark.slow
def test_the_programs_of_a_runner_that_was_replaced_still_count(target: Any) -> None:
    """A clause during which a runner is replaced would else have compiled less than none."""
    compiles, home, arrays = target("compiles")
    assert (none(), programs(), not_compiled()) == (True, 0, ())
    for made in (3, 6, 9):
        compiles(*arrays)
        home.end()
        assert (none(), programs(), not_compiled()) == (False, made, ("too many shapes",))


@pytest.mark.torch
def test_what_is_compiled_is_compiled_again_in_the_next_runner() -> None:
    """Causes and scripts are sought in new runners, of what an earlier one has compiled."""
    written = far("tests.targets.compiled_torch:leaves_out_the_scale")
    home = written._home
    try:
        library = written.library("torch", "cpu")
        numbers = np.arange(4.0, dtype=np.float32)
        arrays = [library.put(Laid(numbers, (1, 1, 2, 2)), "float32")[1] for _ in range(3)]
        wrong = compiled(written, library, "static")
        right = written(*arrays).numbers()
        first = wrong(*arrays).numbers()
        home.fresh()
        assert (wrong(*arrays).numbers() == first).all()
        assert (first != right).all()
    finally:
        ended(home)
