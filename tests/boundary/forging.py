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
from dataclasses import dataclass
from pathlib import Path

from spec.runner.zygote import children, family
from tests.shell import environment
from tests.walked import ROOT

FOLDER = Path(__file__).parent / "forgeries"
HELPERS = ("functions", "wire")
NEVER = py_compile.PycInvalidationMode.UNCHECKED_HASH
ADOPT = 36  # of prctl
BLANK, LIMIT, MOMENT, LONGEST = 200_000, 120, 3, 40
BESIDE = {"bystander", "certificate.json", "__pycache__"}
WORDS = re.compile(r"^\S.*: (certified|not certified|incomplete[^\n]*)", re.MULTILINE)
HOW = ("--isolation", "process", "--profile", "quick", "--dtype", "float32")
SHORT = ("--diagnosis-timeout", "1e-9", "--call-timeout", "10")


@dataclass
class Run:
    """What came of a run.

    seconds, memory: how long it took, and the gigabytes of its largest process. left: processes,
    files and changes that were not there before, and what it reached that it must not.
    """

    code: int
    said: str
    passed: bool
    seconds: float
    memory: float
    left: list[str]

    @property
    def word(self) -> str:
        """The word in the first line of the certificate; `cannot be tested` where there is none."""
        found = WORDS.search(self.said)
        if found is None:
            return "cannot be tested"
        return "interfered" if "interfered" in found[1] else found[1].partition(",")[0]


def forged(name: str, folder: Path, *words: str, beside: Sequence[str] = ()) -> Run:
    """The outcome of `certify` for a forgery that is copied into an empty folder.

    beside: other names under which it lies there as well.
    """
    file = folder / f"{name}.py"
    before = {*os.listdir(tempfile.gettempdir())}
    _copied(name, folder)
    for other in beside:
        shutil.copy(file, folder / f"{other}.py")
    modes = _times(folder)
    # A runner, and what it starts, has this process as its parent once its own parents are gone.
    with _adopting(), _bystander(folder) as bystander, _own_folder() as own:
        asked = ("certify", f"{file.name}:attend", *HOW, *SHORT, "--json", "certificate.json")
        start, known = time.monotonic(), children()
        code, said, memory = _started((*asked, *words), folder)
        seconds = time.monotonic() - start
        left = [*_left(known), *bystander(), *(f"temporary {x}" for x in os.listdir(own))]
    left += [x.name for x in folder.iterdir() if x.name not in {*modes, *BESIDE}]
    left += [f"times of {x}" for x, told in _times(folder).items() if modes.get(x, told) != told]
    left += [f"temporary {x}" for x in {*os.listdir(tempfile.gettempdir())} - before if "left" in x]
    left += re.findall(r"REACHED .*|^\s*(?:::|##).*", said, re.MULTILINE)
    passed = _passed(folder / "certificate.json")
    return Run(code, said, passed, seconds, memory, left)


def _started(words: Sequence[str], folder: Path) -> tuple[int, str, float]:
    """Run the command line in a session of its own, which is what is signalled if any is.

    The exit code, what it said, and the gigabytes of the largest of its processes.
    """
    command = [sys.executable, "-m", "spec", *words]
    given = {**environment(sys.path), "TMPDIR": os.environ["TMPDIR"]}
    how = {"cwd": folder, "env": given, "stdin": subprocess.DEVNULL, "start_new_session": True}
    with tempfile.TemporaryFile(dir=folder) as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, **how)
        end, largest = time.monotonic() + LIMIT, 0
        while not (ended := os.waitpid(process.pid, os.WNOHANG))[0]:
            largest = max(largest, *map(_memory, family({process.pid})))
            if time.monotonic() > end:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.02)
        process.returncode = os.waitstatus_to_exitcode(ended[1])
        out.seek(0)
        said = out.read().decode(errors="replace")
    return process.returncode, said, largest / 2**20


def _memory(process: int) -> int:
    """The kilobytes that a process had at most, as `wait4` begins with those of its parent."""
    with suppress(OSError):
        found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process}/status").read_text())
        return int(found[1]) if found else 0
    return 0


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
    others = _reaped(before, MOMENT)
    found = []
    for process in others:
        with suppress(OSError):
            name = Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
            found.append(f"process {process} {name}")
            os.kill(process, signal.SIGKILL)
    _reaped(before, LONGEST)  # forgeries that nobody catches end by themselves
    return found


def _reaped(before: set[int], seconds: float) -> set[int]:
    """The processes that are still there after some time, if any is."""
    end = time.monotonic() + seconds
    while (others := children() - before) and time.monotonic() < end:
        for process in others:
            os.waitpid(process, os.WNOHANG)
        time.sleep(0.05)
    return others


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
