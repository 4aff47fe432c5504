"""A target in its runner may compute; it reaches nothing of the judge, and nothing of it stays."""

import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from spec.boundary.connection import Connection
from spec.boundary.runners import BARE, Zygote
from spec.runner.confine import confined, memory
from tests.boundary.living import named
from tests.walked import ROOT

ATTACKS = Path(__file__).parent / "attacks.py"
HISTORY = ROOT / ".git"
TARGET = "targets/attacks.py:attempt"
USUAL = {"words": {}, "running": "float64", "warnings": "ignore"}
HELD = confined()
KEPT = {"its environment", "its memory", "its output", "its handles", "trace it", "the machine"}
Try = Callable[..., str]
Attacks = Mapping[str, tuple[object, ...]]

landlock = pytest.mark.skipif(HELD == "process", reason="this kernel has no Landlock")


@contextmanager
def started(zygote: Zygote, folder: Path, name: str = TARGET) -> Iterator[Connection]:
    runner = zygote.runner()
    with runner.talk, runner.block:
        answer = runner.ask("start", target=str(folder / name), folder=str(folder))
        assert "ok" in answer, answer
        yield runner


def tried(runner: Connection, *words: object) -> str:
    return str(runner.ask("call", of=0, places=words, **USUAL)["ok"]["is"])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the judge works; the target is in a folder below it."""
    found = tmp_path_factory.mktemp("work")
    (found / "targets").mkdir()
    shutil.copy(ATTACKS, found / "targets")
    (found / "data").write_text("data")
    return found


def zygote(folder: Path, bare: bool) -> Iterator[Zygote]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("TMPDIR", str(folder))
        if bare:
            patched.setenv(BARE, "1")
        found = Zygote(["numpy"], str(folder))
    yield found
    found.end()


@pytest.fixture(scope="module")
def held(folder: Path) -> Iterator[Zygote]:
    yield from zygote(folder, bare=False)


@pytest.fixture(scope="module")
def bare(folder: Path) -> Iterator[Zygote]:
    yield from zygote(folder, bare=True)


@pytest.fixture(params=[pytest.param("held", marks=landlock), "bare"])
def either(request: pytest.FixtureRequest) -> Zygote:
    found: Zygote = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="module")
def attacks(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attacks]:
    """The attacks, by the thing that each reaches."""
    judge, outside = os.getpid(), tmp_path_factory.mktemp("outside")
    beside = folder / "targets"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as door:
        door.bind(str(outside / "door"))
        door.listen()
        yield {
            "the specification": ("look", str(ROOT / "spec" / "comparison.py")),
            "its history": ("look", str(HISTORY if HISTORY.exists() else ROOT / "spec")),
            "a file of the judge": ("look", str(folder / "data")),
            "a file beside the target": ("write", str(beside / "left")),
            "a file where the judge works": ("write", str(folder / "left")),
            "a file elsewhere": ("write", str(outside / "left")),
            "a library": ("write", np.__file__),
            "the length of a file": ("cut", str(folder / "data")),
            "the mode of a file": ("change_mode", str(beside / "attacks.py")),
            "a signal": ("signal", judge),
            "limits of the judge": ("limit", judge),
            "its arguments": ("look", f"/proc/{judge}/cmdline"),
            "its environment": ("look", f"/proc/{judge}/environ"),
            "its memory": ("look", f"/proc/{judge}/mem"),
            "its output": ("write", f"/proc/{judge}/fd/1"),
            "its handles": ("handle", judge),
            "trace it": ("trace", judge),
            "TCP": ("connect", server.getsockname()[1]),
            "a socket with a path": ("connect", str(outside / "door")),
            "UDP": ("send",),
            "the machine": ("rename_machine",),
            "memory that stays": ("leave_memory",),
        }


@landlock
def test_a_target_reaches_nothing_of_the_judge(
    held: Zygote, folder: Path, attacks: Attacks
) -> None:
    with started(held, folder) as runner:
        found = {what: tried(runner, *words) for what, words in attacks.items()}
    assert {what: said for what, said in found.items() if not said.startswith("refused")} == {}


def test_each_of_these_attacks_reaches_what_it_aims_at(
    bare: Zygote, folder: Path, attacks: Attacks
) -> None:
    """Where nothing holds a target, but for what the system may keep from it by itself."""
    with started(bare, folder) as runner:
        found = {what: tried(runner, *words) for what, words in attacks.items()}
    assert {what for what, said in found.items() if not said.startswith("possible")} <= KEPT


def test_what_runs_out_is_refused_and_the_runner_stays(either: Zygote, folder: Path) -> None:
    with started(either, folder) as runner:
        assert "MemoryError" in tried(runner, "use_memory", memory() // 2)
        assert "File too large" in tried(runner, "grow")
        assert "Too many open files" in tried(runner, "open_many")
        assert tried(runner, "use_memory", 8) == "possible: 8"


def test_the_memory_that_is_shared_cannot_be_cut_off(either: Zygote, folder: Path) -> None:
    with started(either, folder) as runner:
        assert tried(runner, "cut_block").startswith("refused")
        assert runner.block[-1] == 0  # which would end this process


def test_nothing_stays_of_a_runner(either: Zygote, folder: Path) -> None:
    with started(either, folder) as other:
        with started(either, folder) as runner:
            left = tried(runner, "leave_process").rpartition(" ")[2]
            own = Path(tried(runner, "leave_folders").rpartition(" ")[2])
            assert own.is_dir()
            assert len(named(left)) == 1
        until(lambda: not own.exists())
        assert not named(left)
        assert tried(other, "use_memory", 8) == "possible: 8"


def until(holds: Callable[[], bool], seconds: float = 20) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)


@landlock
@pytest.mark.skipif(not shutil.which("cc"), reason="there is no compiler")
def test_a_target_may_compile_and_load_what_it_has_compiled(held: Zygote, folder: Path) -> None:
    with started(held, folder) as runner:
        assert tried(runner, "compile_c") == "possible: 42"


@pytest.mark.slow
@landlock
def test_torch_computes_and_differentiates(held: Zygote, folder: Path) -> None:
    pytest.importorskip("torch")
    with started(held, folder) as runner:
        assert tried(runner, "differentiate") == "possible: 6.0"


@landlock
def test_a_target_beside_the_specification_reads_its_own_folder(held: Zygote) -> None:
    with started(held, ROOT, "tests/boundary/attacks.py:attempt") as runner:
        assert tried(runner, "look", str(ROOT / "tests" / "boundary")).startswith("possible")
        assert tried(runner, "look", str(ROOT / "spec" / "notation.py")).startswith("refused")


def test_what_holds_is_told_in_words(held: Zygote, bare: Zygote) -> None:
    assert (held.isolation, bare.isolation) == (HELD, "process")
