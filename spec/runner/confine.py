"""The confinement of a runner, from the moment before it imports the target.

Everywhere: it has a folder of its own for temporary files, one for compiled programs that it shares
with other runners of the target, and limits. Where the system has Landlock (`landlock`), it reads
what a target needs (`readable`), writes in its own folder, and reaches no other process and no
network. Where namespaces can be made (`spaces`), it sees no other process, and all that it has
started ends with it.

There is no limit of processor time: the judge has one for each call. Nor is there one for the
whole of a folder, or for root's processes, as Linux has none.
"""

import os
import resource
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from . import landlock, spaces
from .compiled import OF_JAX
from .readable import allowed

GIGA = 1 << 30
FILES, TASKS = 4096, 1024
HOMES = ("HOME", "TMPDIR", "XDG_CACHE_HOME")
CACHES = (
    *("TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR", "CUDA_CACHE_PATH", "NUMBA_CACHE_DIR"),
    OF_JAX,
)
GROUPS = Path("/sys/fs/cgroup")


def confined(bare: bool = False) -> str:
    """The confinement of targets on this system, in words. bare: as if it had no means to it."""
    known = 0 if bare else landlock.version()
    means = [f"landlock {known}"] * bool(known) + ["namespaces"] * (not bare and spaces.possible())
    return ", ".join(["process", *means])


def confine(own: str, programs: str, bare: bool, target: str, folder: str) -> None:
    """Forbid this process what no target needs. own: its folder; programs: that for compiled ones.

    Raises OSError.
    """
    os.environ.update(dict.fromkeys(HOMES, own))
    os.environ.update({name: cache(programs, name) for name in CACHES})
    tempfile.tempdir = own
    _limit()
    landlock.no_new_privileges()
    known = 0 if bare else landlock.version()
    if known:
        paths = [*allowed(target, folder, own, programs)]
        landlock.drop()
        landlock.restrict(known, paths)
        landlock.refuse(known)


def cache(programs: str, name: str) -> str:
    """The folder of a cache that an environment variable names."""
    return f"{programs}/{name.lower()}"


def _limit() -> None:
    """Limit what can run out. Of all processes, this one is ended first where memory does."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")
    # Of its own memory, not of addresses: CUDA and XLA reserve more of these than there are bytes.
    _at_most(resource.RLIMIT_DATA, memory() // 2)
    _at_most(resource.RLIMIT_CORE, 0)
    _at_most(resource.RLIMIT_FSIZE, GIGA)
    _at_most(resource.RLIMIT_NOFILE, FILES)
    # Linux counts all tasks of a user, of which there are no more than of the whole system.
    _, _, _, tasks, _ = Path("/proc/loadavg").read_text().split()
    _at_most(resource.RLIMIT_NPROC, int(tasks.partition("/")[2]) + TASKS)


def _at_most(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def memory() -> int:
    """The bytes of memory that this machine, or this container, has."""
    return min((os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), *_of_groups()))


def _of_groups() -> Iterator[int]:
    """The limits of the groups that this process is in."""
    paths = [GROUPS / "memory" / "memory.limit_in_bytes"]
    with suppress(OSError):
        own = Path("/proc/self/cgroup").read_text().rpartition("0::/")[2].strip()
        paths += [x / "memory.max" for x in (GROUPS / own, *(GROUPS / own).parents)]
    for path in paths:
        with suppress(OSError, ValueError):
            yield int(path.read_text())
