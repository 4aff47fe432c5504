"""What is found out about a target before it is judged, and what its library is good for."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from implementations.dense import attend
from spec.attention.options import Capability
from spec.backends.memory import laid_out, view_of
from spec.backends.numpy import library, put
from spec.backends.results import watched
from spec.certification.target import probing
from spec.certification.target.fitting import Search, Trial
from spec.certification.target.probing import probed
from spec.kinds import KINDS
from spec.notation import DTYPES, Array, Call
from spec.subject import Refused

KIND = KINDS["attention"]
NUMPY = library("cpu")


def test_numpy_is_judged_in_each_format_that_it_has() -> None:
    assert [*NUMPY.dtypes] == [dtype for dtype in DTYPES if hasattr(np, dtype)]
    record = KIND.load(attend, backend="numpy")
    assert {*record.dtypes} == {*NUMPY.dtypes}


def refusing(places: set[int], kind: str) -> Any:
    """A right function that refuses those of the problems of a kind that are put at some places."""
    record, met = KIND.load(attend, backend="numpy", dtypes=("float32",)), list[Any]()

    def through(name: str, function: Any) -> Any:
        def ask(problem: Any, *rest: Any) -> Any:
            if name == "forward" and kind in record.kinds_of(problem):
                met.append(problem)
                if len(met) - 1 in places:
                    raise Refused("no")
            return function(problem, *rest)

        return ask

    return record.through(through)


@pytest.mark.parametrize("place", [0, 1])
def test_a_kind_of_problem_that_is_refused_once_and_answered_once_is_asked(place: int) -> None:
    kind, problems = next((k, p) for k, p in KIND.trials.kinds("float32").items() if len(p) > 1)
    functions = KIND.functions
    found = probing.always(functions, refusing({place}, kind), "forward", problems)
    assert found is None
    always = refusing({*range(len(problems))}, kind)
    found = probing.always(functions, always, "forward", problems)
    assert str(found) == "no"


def test_only_what_is_always_refused_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "none", lambda: True)
    kind = Capability.CAUSAL
    for places, refused in (({0}, False), ({*range(1000)}, True)):
        found = probed(refusing(places, kind))
        assert any(refusal.what == kind for refusal in found.refusals) is refused
        assert (kind in found.by_dtype["float32"].answers) is not refused


def called(write: Any) -> Call:
    """What is seen of a call that writes into what it is given."""
    buffers = {"q": np.array([0.0, 2.0, np.nan]), "k": np.ones(3)}

    def call() -> Array:
        write(buffers["q"])
        return np.ones(2)

    return watched(NUMPY, buffers, call, lambda x: x)


def negate(q: Array) -> None:
    q *= -1


def negate_zeros(q: Array) -> None:
    q[q == 0] = -0.0


def count(q: Array) -> None:
    q += 1


def write_the_same(q: Array) -> None:
    q[...] = q.copy()


@pytest.mark.parametrize("write", [negate, negate_zeros, count])
def test_a_call_that_writes_into_its_input_is_seen_whatever_the_second_one_does(write: Any) -> None:
    assert called(write).changed == ("q",)


def test_a_call_that_leaves_each_bit_as_it_was_changes_nothing() -> None:
    found = called(write_the_same)
    assert (found.changed, found.aliased, found.reused) == ((), (), False)


def test_arrays_are_the_same_whose_bits_are() -> None:
    zero, nan = np.zeros(2), np.full(2, np.nan)
    assert NUMPY.same(zero, zero.copy())
    assert NUMPY.same(nan, nan.copy())
    assert not NUMPY.same(zero, -zero)
    assert not NUMPY.same(zero, np.nextafter(zero, 1))


@pytest.mark.parametrize("memory", ["strided", "offset"])
@pytest.mark.parametrize(
    "x", [np.ones((2, 3, 4)), np.zeros((2, 3, 4)), np.ones((2, 3), dtype=bool)]
)
def test_what_lies_beside_the_numbers_spoils_whoever_reads_it(x: Array, memory: Any) -> None:
    """NaN, and beside truth values their opposites."""
    laid = laid_out(x, memory)
    buffer, view = put(laid, "float32")
    np.testing.assert_array_equal(view, x)
    places = view_of(np.arange(buffer.size), laid)
    beside = np.delete(buffer, places.reshape(-1))
    assert beside.size > 0
    assert (~beside).all() if x.dtype == bool else np.isnan(beside).all()


def otherwise(*fitting: str, right: str = "", usual: bool = False) -> str | None:
    """The layout in which a target is judged that fits several, and is right in one."""
    layouts = ("bhld", "blhd", "hld", "lhd")
    trials = [Trial("numpy", layout, record=layout) for layout in layouts]
    search: Any = SimpleNamespace(
        fits=lambda record: record in fitting,
        right=lambda record: record == right,
        others=lambda *_: iter(trials[1:]),
        narrower=lambda: iter(()),
    )
    first = Trial("numpy", "bhld", record="bhld", complaint=None if usual else "it does not")
    found = Search.otherwise(search, first)
    return None if found is None else found.layout


def test_a_layout_is_taken_that_is_right_or_the_only_one_that_fits() -> None:
    for usual in (True, False):
        assert otherwise("blhd", usual=usual) == "blhd"
        assert otherwise("blhd", "lhd", usual=usual) is None
        assert otherwise("hld", "blhd", "lhd", usual=usual) is None
        assert otherwise("blhd", "lhd", right="lhd", usual=usual) == "lhd"
        assert otherwise(usual=usual) is None
    assert otherwise("bhld", "blhd", usual=True) is None
