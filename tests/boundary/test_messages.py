"""The messages of a runner: each is what was asked for, or the target interfered with its judge."""

import json
import mmap
import signal
from types import SimpleNamespace

import pytest

from spec.boundary import messages as m
from spec.boundary.messages import Interfered
from spec.boundary.placed import Answer
from spec.runner.memory import ROOM, SIZE

TOKEN = "0123456789abcdef"
ARRAY = {"dtype": "float32", "shape": [2, 3], "device": "cpu", "grad": None, "id": -1, "at": ROOM}
NO = {"type": "ValueError", "line": "no", "kind": "", "missing": None}
# A value of each type, for where another one is due.
ODD = [None, True, False, -1, 1.5, 2**70, "", "x", [], {}, [1], {"x": 1}, [[]], [{}], {"f": []}]


def refused(check, *values):
    with pytest.raises(Interfered) as found:
        check(*values)
    assert str(found.value).isprintable()
    assert len(str(found.value)) <= 200


def said(told):
    return m.parsed(json.dumps(told).encode(), TOKEN)


def nested(depth, kind="l"):
    found = 0
    for _ in range(depth):
        found = {kind: [found]}
    return found


# The frame of an answer


@pytest.mark.parametrize("told", [{"ok": 1}, {"no": NO}, {"ok": None}])
def test_an_answer_repeats_the_word_of_its_question(told):
    assert said({"n": TOKEN, **told}) == {"n": TOKEN, **told}
    for word in ("f" * 16, "", None, 1, [TOKEN], TOKEN.upper()):
        refused(said, {"n": word, **told})
    refused(said, told)


@pytest.mark.parametrize(
    "told",
    [
        *ODD,
        {"n": TOKEN},
        {"n": TOKEN, "ok": 1, "no": NO},
        {"n": TOKEN, "yes": 1},
        {"n": TOKEN, "ok": 1, "more": 1},
        {"n": TOKEN, "died": 0},
        {"died": 0, "ok": 1},
    ],
)
def test_an_answer_has_these_fields_and_no_others(told):
    refused(said, told)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"certified",
        b"\xff\xfe\x00",
        b"[" * 10**5,
        b'{"a":' * 10**5,
        b'{"n": "%s", "ok": NaN}' % TOKEN.encode(),
        b'{"n": "%s", "ok": -Infinity}' % TOKEN.encode(),
        b'{"n": "%s", "ok": 1, "ok": 2}' % TOKEN.encode(),
        b'{"n": "%s", "ok": %s}' % (TOKEN.encode(), b"9" * 10**5),
        b'{"n": "%s", "ok": 1' % TOKEN.encode(),
        b'{"n": "%s", "ok": 1}{}' % TOKEN.encode(),
        json.dumps({"n": TOKEN, "ok": "x" * 10**6}).encode()[: 1 << 17],
    ],
)
def test_what_is_no_answer_is_none(line):
    refused(m.parsed, line, TOKEN)


@pytest.mark.parametrize("code", [0, 1, 255, -signal.SIGKILL, -signal.SIGSEGV, -40])
def test_a_process_ends_with_a_code_or_by_a_signal(code):
    assert said({"died": code}) == {"died": code}


STOPS = -signal.SIGSTOP, -signal.SIGCHLD


@pytest.mark.parametrize("code", [*(x for x in ODD if x != -1), 256, 10**9, -(10**9), *STOPS])
def test_no_process_ends_otherwise(code):
    refused(said, {"died": code})


# Values


@pytest.mark.parametrize("x", [x for x in ODD if type(x) is not str] + [b"x"])
def test_a_text_is_a_text(x):
    refused(m.text, x)


def test_a_text_is_a_short_line_that_can_be_printed():
    assert m.text("a\x1b[2J\nb") == "a\\x1b[2J\\nb"
    assert m.text("\ud800") == "\\ud800"
    assert m.text("x" * 10**5) == "x" * m.TEXT
    assert len(m.text("\x1b" * 10**5)) <= m.TEXT


@pytest.mark.parametrize("x", [*ODD, 7, -2, 3.0, "3"])
def test_a_number_is_a_whole_one_within_its_limits(x):
    if type(x) is not int or not 0 <= x <= 6:
        refused(m.whole, x, 0, 6)
    assert m.whole(6, 0, 6) == 6


@pytest.mark.parametrize("x", [*ODD, {"a": 1, "b": 2, "c": 3}, {"a": 1}])
def test_a_mapping_has_its_names(x):
    refused(m.fields, x, {"a", "b"})


@pytest.mark.parametrize("x", [x for x in ODD if type(x) is not list])
def test_a_list_is_a_list(x):
    refused(m.several, x, 0)


def test_a_list_has_an_end():
    assert m.several([0] * m.LONGEST, m.DEEPEST) == [0] * m.LONGEST
    refused(m.several, [0] * 10**6, 0)
    refused(m.several, [], m.DEEPEST + 1)


@pytest.mark.parametrize(
    ("x", "value"),
    [
        *((x, x) for x in (None, True, 3, -(2**64), 1.5, "x")),
        ({}, ...),
        ({"f": "-inf"}, float("-inf")),
        ({"t": [1, {"l": [2]}]}, (1, [2])),
        ({"d": [["a", {"t": []}]]}, {"a": ()}),
    ],
)
def test_a_plain_value_is_read(x, value):
    assert m.plain(x) == value
    assert type(m.plain(x)) is type(value)


@pytest.mark.parametrize(
    "x",
    [
        [],
        [1],
        2**64 + 1,
        float("nan"),
        float("inf"),
        {"f": "1"},
        {"f": ["inf"]},
        {"f": {}},
        {"t": {}},
        {"l": "x"},
        {"l": None},
        {"l": [0] * 10**6},
        {"d": [["a"]]},
        {"d": [["a", 1, 2]]},
        {"d": [[1, 2]]},
        {"d": [[["a"], 2]]},
        {"d": ["ab"]},
        {"d": {"a": 1}},
        {"a": ARRAY},
        {"o": {"id": -1, "type": "x", "callable": True}},
        {"r": 0},
        {"t": [], "l": []},
        {"": 0},
        nested(10),
        nested(200, "t"),
    ],
)
def test_no_other_value_is(x):
    refused(m.plain, x)


# Arrays


@pytest.mark.parametrize("name", ARRAY)
@pytest.mark.parametrize("x", [*ODD, -(2**41), 2**41])
def test_each_fact_about_an_array_has_its_type(name, x):
    usual = {"dtype": str, "shape": list, "device": str, "id": int, "grad": (bool, type(None))}
    fits = x is None if name == "at" else isinstance(x, usual[name])
    if name == "id":
        fits = type(x) is int and -m.LARGEST <= x < 0
    if name == "shape":
        fits = x in ([], [1])
    if name == "dtype" and fits:
        refused(m.array, ARRAY | {name: x})  # there is no such format to read bytes in
        fits = m.array(ARRAY | {name: x, "at": None})["dtype"] == x
    elif fits:
        assert m.array(ARRAY | {name: x})[name] == (tuple(x) if name == "shape" else x)
    else:
        refused(m.array, ARRAY | {name: x})


@pytest.mark.parametrize(
    "told",
    [
        {"at": 0},
        {"at": ROOM - 1},
        {"at": SIZE - 23},
        {"at": SIZE},
        {"at": True},
        {"at": float(ROOM)},
        {"shape": [2**40]},
        {"shape": [2**30, 2**30], "at": None},
        {"shape": [0, 2**40, 2**40]},
        {"shape": [1] * (m.AXES + 1)},
        {"shape": [True, 2]},
        {"shape": [2.0, 2]},
        {"shape": "23"},
        {"grad": 1},
        {"grad": 0.0},
        {"surprise": 1},
    ],
)
def test_an_array_lies_in_the_half_of_the_block_that_is_for_answers(told):
    refused(m.array, ARRAY | told)


@pytest.mark.parametrize("shape", [[], [0], [0, 2**40], [6], [1] * 16])
@pytest.mark.parametrize("dtype", ["float64", "bfloat16", "bool"])
def test_an_array_that_is_read_has_its_shape(shape, dtype):
    """Which NumPy can make, of whatever the block holds."""
    with mmap.mmap(-1, SIZE) as block:
        here = SimpleNamespace(block=block, pinned=0, free=[])
        home = SimpleNamespace(connection=lambda: here)
        told = m.array(ARRAY | {"shape": shape, "dtype": dtype, "at": SIZE - 2 * m.TEXT})
        assert Answer(home, told, None).numbers().shape == tuple(shape)
