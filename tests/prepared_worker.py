"""Workers that are copied from the process that runs the command line.

A worker imports the specification, and a library, which takes seconds of a processor. A process
that is prepared (`tests.prepared`) has imported them. The copy is given what `subprocess` gives a
process, and forgets what the command line has that a worker does not.
"""

import atexit
import gc
import io
import os
import subprocess
import sys
import threading
import traceback
import types
import warnings
from collections.abc import Mapping
from inspect import signature
from typing import Any, NoReturn
from unittest.mock import patch

from spec.certification import starting
from spec.certification.isolation import copying
from spec.certification.isolation.worker import main

GIVEN = signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]
ERRORS = ("error", None, Warning, None, 0)  # what `-W error` adds, of which a worker is not told


def copied_workers() -> None:
    """Have the workers that this process starts be copies of it, but for those of elsewhere."""
    from_nothing = starting.started

    def started(*handles: int, place: starting.Place | None = None) -> subprocess.Popen[str]:
        if place is not None or threading.active_count() > 1:  # no other thread would be copied
            return from_nothing(*handles, place=place)
        with patch.object(subprocess, "Popen", Copied):
            return from_nothing(*handles)

    starting.started = copying.started = started


class Copied(subprocess.Popen[str]):
    """A process that is a copy of this one, in place of a program that is executed."""

    def _execute_child(self, *arguments: Any) -> None:
        given = GIVEN.bind(self, *arguments).arguments
        theirs = [given["p2cread"], given["c2pwrite"], given["errwrite"]]
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            _be_worker(theirs, given["pass_fds"], given["env"], given["args"])
        for handle in theirs:
            os.close(handle)
        self._child_created = True


def _be_worker(
    streams: list[int], handles: tuple[int, ...], environment: Mapping[str, str], words: list[str]
) -> NoReturn:
    code = 1
    try:
        atexit._clear()
        subprocess.Popen = Copied.__mro__[1]  # type: ignore[misc]  # what it starts is executed
        for place, handle in enumerate(streams):
            os.dup2(handle, place)
        _close_all_but(handles)
        for name, place in (("stdout", 1), ("stderr", 2)):  # each unbuffered, as by -u
            raw = io.FileIO(place, "w", closefd=False)
            setattr(sys, name, io.TextIOWrapper(raw, encoding="utf-8", write_through=True))
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["-c", *words[words.index("-c") + 2 :]]
        paths = environment["PYTHONPATH"].split(os.pathsep)
        sys.path[:] = dict.fromkeys([*paths, *sys.path[1:]])
        sys.modules["__main__"] = types.ModuleType("__main__")
        filters = [one for one in warnings.filters if one != ERRORS]
        warnings.resetwarnings()
        warnings.filters.extend(filters)  # type: ignore[attr-defined]
        gc.freeze()  # what the command line left is nobody's to collect
        gc.disable()
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        os._exit(code)


def _close_all_but(kept: tuple[int, ...]) -> None:
    """Those beyond the three streams."""
    last = 2
    for handle in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        os.closerange(last + 1, handle)
        last = handle
