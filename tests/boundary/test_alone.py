"""A program of its own calls a target as a runner does, and is believed as little."""

import json
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec.boundary.alone import Alone
from spec.boundary.found import far
from spec.boundary.messages import FarError, Interfered
from spec.boundary.placed import Beyond
from spec.runner.zygote import children
from tests.boundary.living import SHAPE, arrays_of, ended
from tests.shell import FEW, run

TARGET = """
import os
import sys

import numpy as np

said = [x for x in sys.modules if x.startswith(("attention", "spec"))]
print("I am imported")

def attend(query, key, value):
    return query @ key.swapaxes(-1, -2) @ value

def given(query, key, value):
    return value

def writes(query, key, value):
    query *= 2
    return query + 0

def same(query, key, value, kept=[]):
    kept.append(query + 0)
    return kept[0]

def modules(query, key, value):
    return ", ".join(said)

def raises(query, key, value):
    raise ValueError("no")

def ends(query, key, value):
    os._exit(0)

class Layer:
    def __call__(self, query, key, value):
        return query

attend.gradients = writes
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("work")
    (found / "mine.py").write_text(TARGET)
    return found


@pytest.fixture
def called(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A function that calls a target of the file by a program of its own, and lists its arrays."""
    monkeypatch.chdir(folder)
    homes = []

    def call(name: str, *path: str) -> tuple[Any, Any, list[Any]]:
        target = far(f"mine.py:{name}")
        library = target.library("numpy", "cpu")
        homes.append(target._home)
        for each in path:
            target = getattr(target, each)
        arrays = arrays_of(library)
        with homes[-1].program() as program, homes[-1].asking(program):
            outs = target(*arrays), target(*arrays)
        return *outs, arrays

    yield call
    for home in homes:
        ended(home)


def test_its_answers_are_those_of_a_runner(called: Any) -> None:
    first, again, arrays = called("attend")
    assert first.numbers().tolist() == [[[[24.0, 24.0], [24.0, 24.0]]]]
    assert (first.dtype, first.shape, first.shared, again.again) == ("float32", SHAPE, [], False)
    assert [x.numbers().flat[0] for x in arrays] == [1, 2, 3]


def test_it_says_whose_memory_a_result_has(called: Any) -> None:
    first, _, arrays = called("given")
    assert first.shared == [arrays[2]]
    assert called("same")[1].again


def test_a_call_changes_the_arrays_that_it_writes_into(called: Any) -> None:
    assert [x.numbers().flat[0] for x in called("writes")[2]] == [4, 2, 3]
    assert [x.numbers().flat[0] for x in called("attend", "gradients")[2]] == [4, 2, 3]


def test_its_process_has_no_module_of_ours(called: Any) -> None:
    assert called("modules")[0] == ""


def test_exceptions_and_ends_are_those_of_the_target(called: Any) -> None:
    with pytest.raises(FarError, match="no"):
        called("raises")
    with pytest.raises(FarError, match="ends its process"):
        called("ends")


def test_objects_of_a_runner_are_not_called(called: Any) -> None:
    with pytest.raises(Beyond):
        called("Layer")


def test_nothing_of_it_stays(called: Any) -> None:
    before = children()
    called("attend")
    assert len(children() - before) == 1  # the zygote


class Pipes:
    """Pipes in the place of a program: all that it says was written beforehand."""

    def __init__(self, said: bytes) -> None:
        self.said = said

    def alone(self, *_: object) -> tuple[socket.socket, int, int]:
        answers, answer = os.pipe()
        os.write(answer, self.said)
        os.close(answer)
        return socket.socket(), os.open(os.devnull, os.O_WRONLY), answers


def heard(said: bytes) -> Any:
    with closing(Alone(Pipes(said), ("", ""), {"paths": []})) as program:  # type: ignore[arg-type]
        return program.called((), (), {}, {"running": "float32"})


ARRAY = {"dtype": "float32", "shape": [1], "device": "cpu", "grad": None, "size": 4}
REST: Mapping[str, Any] = {"changed": [], "shared": [], "again": False}


def test_an_answer_of_its_form_is_read() -> None:
    line = json.dumps({"ok": {"a": ARRAY}, **REST}).encode()
    assert heard(line + b"\n" + np.float32(7).tobytes()).numbers().tolist() == [7.0]


@pytest.mark.parametrize(
    "said",
    [
        b"no answer\n",
        b"[]\n",
        json.dumps({"ok": None}).encode() + b"\n",
        json.dumps({"ok": None, "n": 1, **REST}).encode() + b"\n",
        json.dumps({"ok": None, **REST, "changed": [0]}).encode() + b"\n",
        json.dumps({"ok": {"a": {**ARRAY, "size": 8}}, **REST}).encode() + b"\n12345678",
        json.dumps({"ok": {"a": {**ARRAY, "size": 2**40}}, **REST}).encode() + b"\n",
        json.dumps({"ok": {"a": {**ARRAY, "shape": [2**50]}}, **REST}).encode() + b"\n",
        json.dumps({"ok": {"a": ARRAY}, **REST}).encode() + b"\n",
        json.dumps({"ok": {"a": {**ARRAY, "size": 3}}, **REST}).encode() + b"\n123",
        json.dumps({"no": {"type": "E"}, "changed": []}).encode() + b"\n",
        json.dumps({"ok": {"a": ARRAY}, "changed": []}).encode() + b"\n1234",
    ],
)
def test_an_answer_of_another_form_interferes(said: bytes) -> None:
    with pytest.raises(Interfered):
        heard(said)


def test_a_function_that_is_right_in_a_runner_alone_is_not_certified(tmp_path: Path) -> None:
    text = (
        "import sys\n"
        "def attend(query, key, value):\n"
        "    import numpy as np\n"
        "    key, value = (x.repeat(query.shape[1] // x.shape[1], 1) for x in (key, value))\n"
        "    s = query @ key.swapaxes(-1, -2) / query.shape[-1] ** 0.5\n"
        "    w = np.exp(s - s.max(-1, keepdims=True, initial=-1e30))\n"
        "    wrong = 'attention_runner' not in sys.modules\n"
        "    w = w / np.maximum(w.sum(-1, keepdims=True), 1e-30)\n"
        "    return ((w + 0.01 * wrong) @ value).astype(query.dtype)\n"
    )
    (tmp_path / "mine.py").write_text(text)
    words = ("mine.py:attend", *FEW, "--isolation", "process", "--clause", "A1")
    found = run("certify", *words, cwd=tmp_path)
    assert found.returncode == 1
    assert "called by a program of its own" in found.stdout
