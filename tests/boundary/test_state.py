"""What a target remembers or does later is seen through the boundary; what a caller needs stays."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from spec.backends.memory import Laid
from spec.boundary import connection
from spec.boundary.found import far
from spec.boundary.messages import Interfered
from spec.boundary.placed import Leaf, Placed, Tape
from spec.boundary.remote import Format
from tests.shell import FEW, NO_CAUSES, run
from tests.walked import ROOT

HERE = Path(__file__).parent
SHAPE = (1, 1, 2, 4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("remembering")
    shutil.copy(HERE / "remembering.py", found)
    shutil.copy(ROOT / "examples" / "kv_cache.py", found)
    return found


def targets(folder, name):
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        found = far(name)
    library = found.library("numpy", "cpu")
    found._home.here.most = 1
    yield found, library
    found._home.here.talk.close()
    found._home.zygote.end()


@pytest.fixture(scope="module")
def function(folder):
    yield from targets(folder, "remembering.py:attend")


@pytest.fixture(scope="module")
def cache(folder):
    yield from targets(folder, "kv_cache.py:Cache")


@pytest.fixture(autouse=True)
def soon(monkeypatch):
    """Have each runner replaced after its first call, where it can be."""
    monkeypatch.setattr(connection, "CALLS", 1)
    monkeypatch.setattr(connection.secrets, "randbelow", lambda _: 0)


def arrays(library, *numbers):
    put = [np.full(SHAPE, x, np.float32) for x in numbers]
    return [library.put(Laid(x.reshape(-1), SHAPE), "float32")[1] for x in put]


def called(target, library, *numbers):
    return target(*arrays(library, *numbers)).numbers()


def test_a_leaf_may_be_passed_in_another_shape(function):
    """As the mask of a call that raised: the exception of the tool hid that of the target."""
    _, library = function
    (array,) = arrays(library, 3)
    moved = Leaf(array, Tape()).reshape(2, 4)
    assert moved.shape == (2, 4)
    assert (moved.numbers() == 3).all()


# Certificates


@pytest.mark.parametrize(
    ("name", "number"), [("by_identity", "T12"), ("one_buffer", "T2"), ("writes_later", "")]
)
def test_who_remembers_or_writes_later_is_refused(name, number, folder):
    """By a clause on what a caller may do between two calls, whichever is the first to see it."""
    words = (*FEW, *NO_CAUSES, "--isolation", "process", "--clause", "T", "--json", "x.json")
    done = run("certify", f"remembering.py:{name}", *words, cwd=folder)
    assert done.returncode == 1, done.stdout + done.stderr
    found = json.loads((folder / "x.json").read_text())
    broken = {x["clause"] for x in found["verdicts"] if x["outcome"] == "violated"}
    assert {number} <= broken if number else broken
    assert not found["passed"]
    assert "beside the specification: False" in done.stderr
    assert "beside the specification: True" not in done.stderr


# Runners that are replaced


def pinned(target):
    return target._home.connection().pinned


def test_a_runner_is_replaced_if_nobody_needs_what_it_holds(function):
    target, library = function
    first = target._home.connection()
    first.most = 1
    outs = [called(target, library, 1, 2, x) for x in (3, 4, 5)]
    assert [x.flat[0] for x in outs] == [3, 4, 5]
    assert target._home.connection() is not first


def test_attributes_of_a_function_are_those_of_the_runner_that_is_there(function):
    target, library = function
    log_sum = target.lse
    seen = set()
    for _ in range(3):
        target._home.connection().most = 0
        assert called(log_sum, library, 0, 0, 0).flat[0] == pytest.approx(np.log(2))
        assert called(target.lse, library, 0, 0, 0).flat[0] == pytest.approx(np.log(2))
        seen.add(id(target._home.connection()))
    assert pinned(target) == 0
    assert len(seen) > 1
    with pytest.raises(AttributeError):
        _ = target.backward


def test_an_answer_that_is_still_held_keeps_its_runner(function):
    target, library = function
    out = target(*arrays(library, 1, 2, 3))
    here = target._home.connection()
    called(target, library, 1, 2, 4)
    assert target._home.connection() is here
    assert out.numbers().flat[0] == out.numbers().flat[0] == 3  # as it came, then as it is fetched
    del out
    called(target, library, 1, 2, 4)
    assert target._home.connection() is not here


def test_an_array_of_an_earlier_library_is_not_refilled(function):
    target, library = function
    target._home.connection().most = 9
    (kept,) = arrays(library, 1)
    target.library("numpy", "cpu")
    here = target._home.connection()
    (mine,) = arrays(library, 2)
    number = mine.spot.id
    del kept, mine
    assert [spot.id for spare in here.spare.values() for spot, _ in spare] == [number]


def test_the_state_of_a_cache_is_not_lost(cache):
    target, library = cache
    made = target(1, 1, 4, 4, Format("float32"))
    here = target._home.connection()
    outs = [made.extend(*arrays(library, 0, 0, x)).numbers() for x in (2, 4, 6)]
    assert target._home.connection() is here
    assert [x.flat[0] for x in outs] == pytest.approx([2, 8 / 3, 18 / 5])


def test_what_only_a_lost_runner_had_is_not_made_up(cache):
    target, library = cache
    made = target(1, 1, 4, 4, Format("float32"))
    target._home.connection().talk.close()
    target._home.here = None
    with pytest.raises(Interfered, match="what it held is lost"):
        made.extend(*arrays(library, 0, 0, 2))


# Arrays


def test_an_array_that_nobody_holds_any_more_is_refilled(function):
    """The target is given the same object, as by a caller who fills a buffer in place."""
    _, library = function
    (one,) = arrays(library, 1)
    number = one.id
    del one
    (other,) = arrays(library, 2)
    assert other.id == number
    assert (other.numbers() == 2).all()


def test_an_array_is_written_into_a_new_runner_once_it_is_used_there(function):
    target, library = function
    given = arrays(library, 1, 2, 3)
    target._home.connection().talk.close()
    target._home.here = None
    assert target(*given).numbers().flat[0] == 3
    assert all(isinstance(x, Placed) and (x.numbers() == x.raw[0]).all() for x in given)
