"""Whatever a runner says of a target is read, or the target interfered; nothing else happens."""

import inspect
import json
from contextlib import suppress
from types import SimpleNamespace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spec.backends.library import Unsuitable
from spec.boundary import described, messages
from spec.boundary.counts import Counts
from spec.boundary.far import Thing, called, recorded
from spec.boundary.found import of_class
from spec.boundary.home import Home
from spec.boundary.messages import FarError, Interfered, raised
from spec.boundary.placed import Tape
from spec.runner.memory import ROOM
from spec.subject import NoGradient

ARRAY = {"dtype": "float32", "shape": [2, 3], "device": "cpu", "grad": None, "id": -1, "at": ROOM}
NO = {"type": "ValueError", "line": "no", "kind": "", "missing": None}
QUERY = {"name": "query", "kind": "POSITIONAL_OR_KEYWORD", "default": None}
TOLD = {
    **{"name": "attend", "qualname": "attend", "module": "mine", "kind": "callable", "line": ""},
    **{"type": "builtins.function", "parameters": [QUERY], "bound": [], "libraries": ["numpy"]},
    **{"traits": [], "bases": [], "threads": 1, "formats": []},
}
TEXTS = st.sampled_from(["", "x", "a", "o", "f", "t", "l", "d", "inf", "numpy", "\ud800", "\x1b["])
NUMBERS = st.sampled_from([0, -1, 1, ROOM, 2**70, -(2**70), 1.5, float("nan"), 1e308])
LEAVES = st.none() | st.booleans() | NUMBERS | TEXTS | st.just(ARRAY) | st.just(QUERY)
VALUES = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(TEXTS, x, max_size=3), max_leaves=8
)


def changed(record):
    """A record in which some fields are another value, gone, or new."""
    names = st.sampled_from([*record])
    other = st.dictionaries(names, VALUES, max_size=2).map(lambda x: {**record, **x})
    less = names.map(lambda name: {x: y for x, y in record.items() if x != name})
    return other | less | VALUES.map(lambda x: {**record, "surprise": x}) | VALUES


few = settings(max_examples=150, deadline=None, database=None, derandomize=True)


@few
@given(VALUES)
def test_a_value(x):
    with suppress(Interfered):
        messages.plain(x)
    with suppress(Interfered):
        messages.plain(x, lambda _, what: messages.array(what))


@few
@given(changed(ARRAY))
def test_an_array(x):
    with suppress(Interfered):
        assert messages.array(x).keys() == ARRAY.keys()


@few
@given(changed({"n": "x", "ok": 0}) | changed({"died": 0}))
def test_an_answer(x):
    with suppress(Interfered):
        messages.parsed(json.dumps(x).encode(), "x")


@few
@given(st.binary(max_size=20))
def test_bytes(x):
    with suppress(Interfered):
        messages.parsed(x, "x")


@few
@given(st.lists(changed(QUERY), max_size=3) | VALUES)
@example([QUERY, QUERY])
@example([{**QUERY, "kind": "empty"}])
@example([{**QUERY, "kind": "__doc__"}])
@example([{**QUERY, "name": "class"}])
@example([QUERY, {"name": "key", "kind": "POSITIONAL_ONLY"}])
def test_the_parameters_of_a_function(x):
    with suppress(Interfered, Unsuitable):
        assert isinstance(described.signature(x), inspect.Signature)


@few
@given(changed(NO))
def test_an_exception(x):
    with suppress(Interfered):
        found = raised(x)
        assert isinstance(found, FarError | AttributeError | NoGradient | Unsuitable)
        assert str(found).isprintable()


@few
@given(changed(TOLD))
def test_the_description_of_a_class(x):
    home = SimpleNamespace()
    with suppress(Interfered, Unsuitable):
        made = of_class(home, -1, messages.fields(x, described.TOLD))
        assert made.__name__.isidentifier()


# The answers to questions of a home


def home_that_hears(answer):
    """A home whose runner gives one answer to all questions."""
    home = Home(SimpleNamespace(), "mine.py:attend", ".")
    here = SimpleNamespace(pinned=0, free=[], calls=0, block=bytearray(0))
    home.connection = home.begin = lambda: here
    home.ask = lambda *_, **__: answer
    home.made = lambda home, number, kind, _, again: Thing(home, number, kind, again)
    return home


ANSWERED = {
    "loaded": (
        {"libraries": ["numpy"], "packages": [], "files": ["/x.py"], "calls": [], "gpu": ""},
        Home.loaded,
    ),
    "counts": (
        {"programs": 0, "of_jax": 0, "any": False, "not_compiled": []},
        lambda home: Counts.read(home.ask()),
    ),
    "source": ("mine.py, line 1", Home.source.fget),
    "ways": (["static"], Home.ways.fget),
    "names": (["np"], Home.names),
    "call": ({"is": 3}, lambda home: called(home, lambda: 0, (), {})),
    "recorded": (
        {"is": 3, "tape": -1, "pulled": None},
        lambda home: recorded(home, home.ask(), Tape()),
    ),
    "pulled": (
        {"is": 3, "tape": -1, "pulled": {"ok": {"l": []}}},
        lambda home: recorded(home, home.ask(), Tape()),
    ),
    "gradients": (
        {"l": []},
        lambda home: home.pulled([SimpleNamespace(number=lambda _: -1, tape=-2)], []),
    ),
}


@pytest.mark.quick("ways", "gradients", "loaded", "names", "source")
@pytest.mark.parametrize("name", ANSWERED)
def test_each_answer_of_a_runner_has_its_form(name):
    usual, ask = ANSWERED[name]
    ask(home_that_hears(usual))
    others = changed(usual) if isinstance(usual, dict) else VALUES

    @few
    @given(others)
    def answered(x):
        with suppress(Interfered):
            ask(home_that_hears(x))

    answered()


@pytest.mark.parametrize("tape", [0, 1, True, "x", [1], {}, -1.0, -(2**70)])
def test_a_tape_is_an_object_of_the_runner(tape):
    with pytest.raises(Interfered):
        called(home_that_hears({"is": 3, "tape": tape}), lambda: 0, (), {})
