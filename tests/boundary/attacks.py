"""A target that tries what no target may do. Each function returns if it could; the judge asks."""

import ctypes
import importlib
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

LIBRARY = ctypes.CDLL(None, use_errno=True)
SEIZE, TAKE, SHARED, NAME = 0x4206, 438, 0o1600, 15


def attempt(name: str, *words: Any) -> str:
    """Whether an attack was possible, and what it brought or what refused it."""
    attack: Callable[..., Any] = globals()[name]
    try:
        return f"possible: {attack(*words)}"
    except (OSError, MemoryError) as error:
        return f"refused: {type(error).__name__} {error}"


def _done(code: int) -> int:
    if code < 0:
        raise OSError(ctypes.get_errno(), "refused")
    return code


def look(path: str) -> None:
    os.close(os.open(path, os.O_RDONLY))


def write(path: str) -> None:
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT))


def change_mode(path: str) -> None:
    Path(path).chmod(0o777)


def cut(path: str) -> None:
    os.truncate(path, 0)


def signal(judge: int) -> None:
    os.kill(judge, 0)


def limit(judge: int) -> object:
    return resource.prlimit(judge, resource.RLIMIT_CORE)


def trace(judge: int) -> int:
    return _done(LIBRARY.ptrace(SEIZE, judge, 0, 0))


def handle(judge: int) -> int:
    return _done(LIBRARY.syscall(TAKE, os.pidfd_open(judge), 1, 0))


def connect(place: Any) -> None:
    kind = socket.AF_UNIX if isinstance(place, str) else socket.AF_INET
    with closing(socket.socket(kind, socket.SOCK_STREAM)) as one:
        one.connect(place if isinstance(place, str) else ("127.0.0.1", place))


def rename_machine() -> None:
    """Give it the name that it has, for which one must be root."""
    socket.sethostname(socket.gethostname())


def send() -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()


def leave_memory() -> int:
    """A segment of memory that outlives its process; the last call removes it again."""
    number = _done(LIBRARY.shmget(0, 4096, SHARED))
    return int(LIBRARY.shmctl(number, 0, None))


def cut_block() -> None:
    """Cut off the memory that is shared with the judge."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "memfd:arrays" in line:
            place = "-".join(f"{int(x, 16):x}" for x in line.split()[0].split("-"))
            opened = os.open(f"/proc/self/map_files/{place}", os.O_RDWR)
            os.ftruncate(opened, 0)


def use_memory(size: int) -> int:
    return np.zeros(size, np.uint8).nbytes


def grow() -> None:
    with tempfile.TemporaryFile() as one:
        one.truncate(2 << 30)


def leave_process() -> str:
    """A process in a session of its own, and one whose parent is gone, by the name that it has."""
    name = f"left-{os.urandom(4).hex()}"
    ends, starts = os.pipe()
    if not os.fork():
        os.setsid()
        if os.fork():
            os._exit(0)
        LIBRARY.prctl(NAME, name.encode())
        os.write(starts, name.encode())
        os.close(1)
        os.close(2)
        time.sleep(60)
        os._exit(0)
    return os.read(ends, 20).decode()


def leave_folders() -> str:
    """Folders that are deeper than Python can go, and one that nobody may open."""
    own = tempfile.mkdtemp()
    os.chdir(own)
    for _ in range(2 * sys.getrecursionlimit()):
        os.mkdir("deep")
        os.chdir("deep")
    os.mkdir(f"{own}/closed", 0)
    return tempfile.gettempdir()


def open_many() -> None:
    handles: list[int] = []
    try:
        while True:
            handles.append(os.open(os.devnull, os.O_RDONLY))
    finally:
        for one in handles:
            os.close(one)


def compile_c() -> int:
    own = Path(tempfile.mkdtemp())
    (own / "a.c").write_text("int answer(void) { return 42; }")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", own / "a.so", own / "a.c"], check=True)
    return int(ctypes.CDLL(str(own / "a.so")).answer())


def differentiate() -> float:
    torch = importlib.import_module("torch")
    x = torch.tensor(3.0, requires_grad=True)
    (x * x).backward()
    return float(x.grad)
