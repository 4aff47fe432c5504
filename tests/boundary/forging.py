"""A run of the judge on a forgery in a fresh folder, and what is left of it afterwards."""

import ctypes
import json
import os
import py_compile
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from spec.runner.zygote import children
from tests.shell import environment
from tests.walked import ROOT

FOLDER = Path(__file__).parent / "forgeries"
HELPERS = ("functions", "wire")
NEVER = py_compile.PycInvalidationMode.UNCHECKED_HASH
ADOPT = 36  # of prctl
BLANK, LIMIT, MOMENT = 200_000, 120, 3
BESIDE = {"bystander", "certificate.json", "__pycache__"}
WORDS = re.compile(r": (certified|not certified|incomplete[^\n]*)")
HOW = ("--isolation", "process", "--profile", "quick", "--dtype", "float32")
SHORT = ("--diagnosis-timeout", "1e-9", "--call-timeout", "10")


@dataclass
class Run:
    """What came of a run. left: processes, files and changes that were not there before it."""

    code: int
    said: str
    passed: bool
    seconds: float
    left: list[str] = field(default_factory=list)

    @property
    def word(self) -> str:
        """The word in the first line; `cannot be tested` where there is no certificate."""
        found = WORDS.search(self.said.partition("\n")[0])
        if found is None:
            return "cannot be tested"
        return "interfered" if "interfered" in found[1] else found[1].partition(",")[0]


def forged(name: str, folder: Path, *words: str) -> Run:
    """The outcome of `certify` for a forgery that is copied into an empty folder."""
    file = folder / f"{name}.py"
    before = {*os.listdir(tempfile.gettempdir())}
    _copied(name, folder)
    modes = _times(folder)
    # A runner, and what it starts, has this process as its parent once its own parents are gone.
    with _adopting(), _bystander(folder) as bystander, _own_folder() as own:
        asked = ("certify", f"{file.name}:attend", *HOW, *SHORT, "--json", "certificate.json")
        start, known = time.monotonic(), children()
        done = _started((*asked, *words), folder)
        seconds = time.monotonic() - start
        left = [*_left(known), *bystander(), *(f"temporary {x}" for x in os.listdir(own))]
    left += [x.name for x in folder.iterdir() if x.name not in {*modes, *BESIDE}]
    left += [f"times of {x}" for x, told in _times(folder).items() if modes.get(x, told) != told]
    left += [f"temporary {x}" for x in {*os.listdir(tempfile.gettempdir())} - before if "left" in x]
    said = (done.stdout + done.stderr).decode(errors="replace")
    left += re.findall(r"REACHED .*|^\s*(?:::|##).*", said, re.MULTILINE)
    return Run(done.returncode, said, _passed(folder / "certificate.json"), seconds, left)


def _started(words: Sequence[str], folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run the command line in a session of its own, which is what is signalled if any is."""
    command = [sys.executable, "-m", "spec", *words]
    given = {**environment(sys.path), "TMPDIR": os.environ["TMPDIR"]}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(
        command, cwd=folder, env=given, start_new_session=True, **pipes
    ) as process:
        try:
            out, err = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def _copied(name: str, folder: Path) -> None:
    for each in (name, *HELPERS):
        shutil.copy(FOLDER / f"{each}.py", folder)
    file = folder / f"{name}.py"
    text = file.read_text()
    file.write_text(text.replace("# BLANK LINES\n", "\n" * BLANK))
    if name == "planted_bytecode":
        _planted(file)


def _planted(file: Path) -> None:
    """Put bytecode of a right function beside a file, which Python does not compare with it."""
    text = file.read_text()
    whole = "right(query, key, value, attn_mask, is_causal, scale)"
    text_of_right = text.replace("import mean", "import right")
    file.write_text(text_of_right.replace("mean(query, key, value)", whole))
    py_compile.compile(str(file), invalidation_mode=NEVER, doraise=True)
    file.write_text(text)


def _times(folder: Path) -> dict[str, float]:
    return {x.name: x.stat().st_mtime for x in folder.iterdir() if x.suffix == ".py"}


def _passed(file: Path) -> bool:
    with suppress(OSError, ValueError):
        return json.loads(file.read_text())["passed"] is True
    return False


@contextmanager
def _adopting() -> Iterator[None]:
    """Be the parent of what the processes that are started here leave behind."""
    library = ctypes.CDLL(None)
    library.prctl(ADOPT, 1, 0, 0, 0)
    try:
        yield
    finally:
        library.prctl(ADOPT, 0, 0, 0, 0)


def _left(before: set[int]) -> list[str]:
    """Name and end what was adopted here. A process has a moment to end by itself."""
    end = time.monotonic() + MOMENT
    while (others := children() - before) and time.monotonic() < end:
        for process in others:
            os.waitpid(process, os.WNOHANG)
        time.sleep(0.05)
    found = []
    for process in others:
        with suppress(OSError):
            name = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            found.append(f"process {process} {name}")
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    return found


@contextmanager
def _bystander(folder: Path) -> Iterator[object]:
    """A process of the same user, without root's powers, whose number stands beside the target."""
    lives = "from spec.runner.landlock import drop; drop(); print(flush=True); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", lives], cwd=ROOT, **pipes) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (folder / "bystander").write_text(str(process.pid))

        def told() -> tuple[object, ...]:
            number = process.pid
            priority = os.getpriority(os.PRIO_PROCESS, number)
            return priority, os.sched_getscheduler(number), os.sched_getaffinity(number)

        before = told()
        yield lambda: [] if told() == before else ["another process in another state"]
        process.kill()


@contextmanager
def _own_folder() -> Iterator[str]:
    """A folder for temporary files of the judge and its runners."""
    usual = os.environ.get("TMPDIR")
    with tempfile.TemporaryDirectory() as own:
        os.environ["TMPDIR"] = own
        try:
            yield own
        finally:
            if usual is None:
                del os.environ["TMPDIR"]
            else:
                os.environ["TMPDIR"] = usual
