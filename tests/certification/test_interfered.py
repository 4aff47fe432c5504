"""Who writes to the pipe of a worker what nobody ordered: no verdict counts, and the run ends."""

import io
import json
import time
from types import SimpleNamespace

import pytest

from spec import CLAUSES
from spec.certification.isolation.child import ENDS, Child
from spec.certification.isolation.protocol import (
    CAUSES,
    Interfered,
    messages,
    read_first,
    read_verdict,
    turn,
)
from spec.certification.judging.cause import Cause
from spec.certification.judging.plan import How
from spec.certification.judging.verdict import Verdict, verdict_to_json
from tests.shell import FEW, run

ITEM = ("A1", "float32")
VERDICT = verdict_to_json(Verdict(*(ITEM[0], CLAUSES["A1"].name, "must"), ITEM[1], "holds", 4, 0.5))
ANSWER = {"verdict": VERDICT, "notes": [], "after": 0.1, "order": "x"}


def child(**fields):
    """A worker that judges, as its parent sees it."""
    usual = {"item": ITEM, "sort": (False, False), "loaded": True, "ready": True, "judged": False}
    return SimpleNamespace(**usual | {"order": "x", "how": How()} | fields)


# Lines


def test_a_line_is_an_object_of_json_and_the_last_one_may_have_no_end():
    told = '{"answering": true}\n{"loaded": fa'
    assert [*messages(io.StringIO(told))] == [{"answering": True}]
    for line in ("[1]\n", "certified\n", "[" * 10**5 + "\n", "\n"):
        assert [*messages(io.StringIO(line))] == [{}]


def test_a_line_without_an_end_is_not_read_for_ever(monkeypatch):
    monkeypatch.setattr("spec.certification.isolation.protocol.LONGEST", 100)
    assert [*messages(io.StringIO("x" * 10**5))] == [{}]


# Turns

SAID = {
    "loaded": {"loaded": True},
    "probing": {"probing": {}},
    "unsuitable": {"unsuitable": "no"},
    "answering": {"answering": True},
    "survey": {"survey": {}, "probed": {}, "order": "x"},
    "verdict": ANSWER,
    "first": {"first": {}, "order": "x"},
    "diagnosis": {"diagnosis": {}, "beside": 0.0, "order": "x"},
}
TURNS = [
    (child(loaded=False, ready=False, sort=None, item=None), {"loaded", "unsuitable"}),
    (child(ready=False, sort=None, item=None), {"probing", "unsuitable", "survey"}),
    (child(ready=False), {"probing", "unsuitable", "answering"}),
    (child(), {"answering", "verdict"}),
    (child(item=None), {"answering"}),
    (child(item=CAUSES), {"answering", "first", "diagnosis"}),
    (child(item=CAUSES, judged=True), {"answering", "diagnosis"}),
]


@pytest.mark.parametrize(("worker", "due"), TURNS)
def test_each_message_has_its_turn(worker, due):
    for word, message in SAID.items():
        if word in due:
            assert turn(worker, message) == word
        else:
            with pytest.raises(Interfered, match=f"told a {word} that nobody had ordered"):
                turn(worker, message)


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"certified": True},
        ANSWER | {"survey": {}},
        ANSWER | {"surprise": 1},
        {"verdict": VERDICT},
        ANSWER | {"order": "y"},
        ANSWER | {"order": None},
        ANSWER | {"after": "0"},
        ANSWER | {"notes": ["a", 1]},
        ANSWER | {"notes": "a"},
    ],
)
def test_a_message_has_its_fields_and_the_word_of_its_order(message):
    with pytest.raises(Interfered):
        turn(child(), message)


# Verdicts


def test_a_verdict_on_what_was_ordered_is_read():
    assert read_verdict(child(), ANSWER, CLAUSES, looks=False).worst == 0.5
    look = {"verdict": VERDICT, "order": "x"}
    assert read_verdict(child(), look, CLAUSES, looks=True).examples == 4


@pytest.mark.parametrize(
    ("fields", "beside"),
    [
        ({"clause": "A2"}, {}),
        ({"dtype": "float64"}, {}),
        ({"name": "x"}, {}),
        ({"force": "should"}, {}),
        ({"outcome": "deviates"}, {}),
        ({"outcome": "blocked"}, {}),
        ({"outcome": "crashed"}, {}),
        ({"outcome": "perfect"}, {}),
        ({"examples": 0}, {}),
        ({"examples": -4}, {}),
        ({"worst": "nan"}, {}),
        ({"rounding": "eager"}, {}),
        ({"causes": [0]}, {}),
        ({"seconds": {"cake": 1.0}}, {}),
        ({"seconds": {"reduction": -1.0}}, {}),
        ({"surprise": 1}, {}),
        ({"clause": "../../A1"}, {}),
        ({"counterexample": {"problem": {}}}, {}),
        ({}, {"after": -1.0}),
        ({}, {"notes": ["x"] * 1000}),
    ],
)
def test_no_other_verdict_is(fields, beside):
    with pytest.raises(Interfered):
        read_verdict(child(), ANSWER | beside | {"verdict": VERDICT | fields}, CLAUSES, looks=True)


def test_a_first_cause_is_a_cause_or_nothing():
    cause = Cause(("causal",), "", "is wrong", problems=(2, 3))
    assert read_first({"first": cause.to_json()}) == cause
    for fields in ({"failure": 1}, {"features": [1]}, {"problems": ["2", 3]}, {"surprise": 1}):
        with pytest.raises(Interfered, match="told a first in another form"):
            read_first({"first": cause.to_json() | fields})


def test_a_grade_that_was_granted_is_not_taken_back():
    """What is violated in a stricter one is run again, and would be without an end."""
    item, told = ("A1", "float16"), {"dtype": "float16", "outcome": "violated"}
    worker = child(item=item, how=How("eager"))
    for grade in ("strict", "flash"):
        with pytest.raises(Interfered):
            read_verdict(
                worker, ANSWER | {"verdict": VERDICT | told | {"rounding": grade}}, CLAUSES, False
            )
    told["rounding"] = "eager"
    assert read_verdict(worker, ANSWER | {"verdict": VERDICT | told}, CLAUSES, False).examples == 4


@pytest.mark.parametrize(("worker", "looks"), [(child(), False), (child(judged=True), True)])
def test_a_verdict_comes_alone_once_and_where_one_is_looked_for(worker, looks):
    with pytest.raises(Interfered):
        read_verdict(worker, {"verdict": VERDICT, "order": "x"}, CLAUSES, looks)


# Surveys


def test_who_is_heard_of_for_ever_hangs_all_the_same():
    now = time.monotonic()
    worker = SimpleNamespace(since=now, began=now - ENDS + 1)
    assert Child.overdue(worker, patience=1.0) == pytest.approx(now + 1)
    assert Child.overdue(worker, patience=10.0) == pytest.approx(now + 10)


# Targets that do it

WRITES = """
import os, stat
import numpy as np

def attend(query, key, value):
    for n in range(3, 100):
        try:
            if stat.S_ISFIFO(os.fstat(n).st_mode):
                os.write(n, b'{"verdict": {"clause": "A1", "surprise": 1}}\\\\n')
        except OSError:
            pass
    return np.zeros_like(query)
"""
READS = """
import json, os, sys
import numpy as np

def attend(query, key, value):
    frame = sys._getframe()
    while frame is not None and not {"told", "wanted"} <= {*frame.f_locals}:
        frame = frame.f_back
    if frame is not None:
        order, told = frame.f_locals["wanted"]["order"], frame.f_locals["told"]
        survey = {"name": "attend", "items": [], "settled": []}
        told.write(json.dumps({"survey": survey, "probed": {}, "order": order}) + "\\\\n")
        told.flush()
    return np.zeros_like(query)
"""


@pytest.mark.parametrize(
    ("source", "what"),
    [(WRITES, "wrote a line that is no message"), (READS, "told a survey in another form")],
)
def test_a_target_that_writes_for_its_judge_is_not_certified(source, what, tmp_path):
    (tmp_path / "mine.py").write_text(source.replace("\\\\n", "\\n"))
    words = (*FEW, "--isolation", "fork", "--json", "x.json")
    done = run("certify", "mine.py:attend", *words, cwd=tmp_path)
    assert done.returncode == 3, done.stdout + done.stderr
    first = done.stdout.partition("\n")[0]
    assert first.endswith("attend: incomplete, as the target interfered with its judge")
    assert f"not run, the target interfered: its process {what}" in done.stdout
    found = json.loads((tmp_path / "x.json").read_text())
    assert not found["passed"]
    assert {v["outcome"] for v in found["verdicts"]} <= {"blocked", "not offered", "refused"}
