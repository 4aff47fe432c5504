"""A runner that lies: the target interfered with its judge, and the certificate says how."""

import json
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from spec.boundary.found import far
from spec.boundary.messages import Interfered
from tests.boundary.living import named
from tests.shell import FEW, run

HERE = Path(__file__).parent
WORDS = (*FEW, "--clause", "A1", "--isolation", "process", "--json", "x.json")
LEFT = re.compile(r"left (lie-\w+) (\S+)")
NOBODY = "sent an answer that nobody asked for"
NONE = "sent something that is no answer"
FORM = "sent an answer of another form"
CLOSED = "closed its connection to the judge"
SAID = {
    "token": NOBODY,
    "garbage": NONE,
    "long": NONE,
    "deep": NONE,
    "endless": "sent an answer without end",
    "empty": CLOSED,
    "twice": NOBODY,
    "late": NOBODY,
    "text": "sent something else in the place of a text",
    "shape": "sent something else in the place of a number from 0 to",
    "place": "sent something else in the place of a number from",
    "large": "sent an array that lies outside of the block",
    "form": FORM,
    "died_oddly": "said that it ended as no process does",
    "stopped": "said that it ended as no process does",
    "shuts": CLOSED,
    "handles": NOBODY,
    "flood": NOBODY,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("lies")
    shutil.copy(HERE / "lies.py", found)
    return found


@pytest.fixture(scope="module")
def target(folder):
    """A right function of the same module, whose runners are those of all."""
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(folder)
        found = far("lies.py:attend")
    yield found
    found._home.here.talk.close()
    found._home.zygote.end()


@pytest.mark.parametrize("lie", SAID)
def test_a_lie_in_a_call_is_told_as_what_it_is(lie, target):
    """Each in a runner of its own, as those of other processes are."""
    home = target._home
    home.connection().talk.close()
    home.here, home.target = None, f"lies.py:{lie}"
    library = target.library("numpy", "cpu")
    arrays = [library.integers(np.arange(8).reshape(1, 1, 2, 4)) for _ in range(3)]
    with pytest.raises(Interfered, match=f"^{SAID[lie]}"):
        _ = [target(*arrays) for _ in range(3)]  # some lie in the second call


def certified(target, folder, *words):
    """How a run ends, what it says, and the certificate, of which nothing is left behind."""
    done = run("certify", target, *WORDS, *words, cwd=folder, timeout=60)
    printed = LEFT.findall(done.stdout + done.stderr)
    for name, own in printed:
        gone(name, Path(own))
    assert done.stdout, done.stderr
    return done.returncode, done.stdout, json.loads((folder / "x.json").read_text()), printed


def gone(name, own):
    """Wait a moment for what ends with the judge: a process, and its folder."""
    end = time.monotonic() + 20
    while named(name) or own.exists():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.quick("garbage")
@pytest.mark.parametrize("lie", ["garbage", "twice_later", "shuts_later"])
def test_the_certificate_of_a_liar_says_that_it_interfered(lie, folder):
    code, said, found, printed = certified(f"lies.py:{lie}", folder)
    assert code == 3, said
    assert said.partition("\n")[0].endswith("incomplete, as the target interfered with its judge")
    assert f"the target interfered: its process {SAID[lie.removesuffix('_later')]}" in said
    assert not found["passed"]
    assert {v["outcome"] for v in found["verdicts"]} == {"blocked"}
    assert printed


@pytest.mark.slow
def test_verdicts_from_before_a_lie_stand(folder):
    code, said, found, _ = certified("lies.py:garbage_later", folder, "--clause", "A1,S,V,P")
    assert code == 3, said
    assert said.partition("\n")[0].endswith("incomplete, as the target interfered with its judge")
    assert {v["outcome"] for v in found["verdicts"]} >= {"blocked", "holds"}
    assert not found["passed"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ("died", "the process ended with exit code 0"),
        ("closes", "the process ended with exit code 1"),
    ],
)
def test_who_says_that_it_ended_or_ends_is_not_certified(lie, why, folder):
    code, said, found, _ = certified(f"lies.py:{lie}", folder)
    assert code == 3, said
    assert why in said
    assert not found["passed"]


@pytest.mark.quick("silent")
@pytest.mark.parametrize("lie", ["silent", "leaves"])
def test_who_never_answers_is_not_certified(lie, folder):
    code, said, found, printed = certified(f"lies.py:{lie}", folder, "--call-timeout", "4")
    assert code == 3, said
    assert "no result after 4 s" in said
    assert not found["passed"]
    assert len(printed) > (lie == "leaves")


@pytest.mark.slow
def test_an_answer_that_no_socket_takes_is_an_exception_of_the_target(folder):
    done = run("certify", "lies.py:longer", *WORDS, cwd=folder)
    assert done.returncode == 2
    assert "error: longer could not be called: OSError: [Errno 90] Message too long" in done.stderr


@pytest.mark.quick("library*", "token*")
@pytest.mark.parametrize(
    ("lie", "why"),
    [
        ("token", NOBODY),
        ("garbage", NONE),
        ("library", "named a library that there is not"),
        ("parameters", "sent parameters that no function has"),
        ("name", "sent something else in the place of a text"),
        ("kind", "sent something else in the place of a text"),
    ],
)
def test_a_lie_about_a_target_is_told_as_well(lie, why, tmp_path):
    source = (HERE / "lies_at_import.py").read_text().replace("{lie}", lie)
    (tmp_path / "mine.py").write_text(source)
    code, said, found, _ = certified("mine.py:attend", tmp_path)
    assert code == 3, said
    assert f"the target interfered: its process {why}" in said
    assert not found["passed"]


def test_who_ends_at_import_is_not_certified(tmp_path):
    source = (HERE / "lies_at_import.py").read_text().replace("{lie}", "ends")
    (tmp_path / "mine.py").write_text(source)
    code, said, found, _ = certified("mine.py:attend", tmp_path)
    assert code == 3, said
    assert "the process ended with exit code 0" in said
    assert not found["passed"]
