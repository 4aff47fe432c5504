"""The command line as people start it: in a process of its own.

It is a copy of a process that has imported it (`tests.prepared`), and so are its workers, which
saves seconds each time. `started` tells Python to run it from nothing, as other programs are.
"""

import atexit
import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from functools import cache

from tests.prepared import Prepared

PYTHON = (sys.executable, "-W", "error")
FEW = ("--profile", "quick", "--dtype", "float32")
NO_CAUSES = ("--diagnosis-timeout", "1e-9")  # no time to look for them
SPEC = ("-m", "spec")
WAITING = re.compile(r"^[a-z ]+ \.\.\.\n", re.MULTILINE)  # only a slow machine has such a line


def run(*words, cwd=None, program=SPEC, path=None, timeout=120, start=PYTHON):
    done = _run(*words, cwd=cwd, program=program, path=path, timeout=timeout, start=start)
    done.stderr = WAITING.sub("", done.stderr)
    return done


def _run(*words, cwd, program, path, timeout, start):
    if (program, path, start) != (SPEC, None, PYTHON) or not hasattr(os, "fork"):
        return started(*words, cwd=cwd, program=program, path=path, timeout=timeout, start=start)
    given = environment(sys.path)
    prepared = _prepared(given["PYTHONPATH"], *_imported(words))
    return prepared.run(words, os.path.abspath(cwd or os.getcwd()), given, timeout)


def started(*words, cwd=None, program=SPEC, path=None, timeout=120, start=PYTHON, given=None):
    around = environment(sys.path if path is None else path)
    if path is not None:  # what is installed there is meant, plugins of pytest as well
        del around["PYTEST_DISABLE_PLUGIN_AUTOLOAD"]
    return subprocess.run(
        [*start, *program, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        cwd=cwd,
        env=around,
        input=given,
    )


def begun(*words, cwd):
    """A run of the command line that goes on, in a session of its own."""
    return subprocess.Popen(
        [sys.executable, *SPEC, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(x for x in sys.path if x)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def environment(path):
    """That of a process which finds modules on a path, and has none of pytest's other plugins."""
    found = os.pathsep.join(x for x in path if x)
    few = {"OMP_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # seconds to import
    return {**os.environ, "PYTHONPATH": found, **few}


def _imported(words):
    """The library that a worker will import, by the words of the command line."""
    if "torch" not in " ".join(map(str, words)):
        return ()
    return ("torch", "compiled") if "--compiled" in words else ("torch",)


@cache
def _prepared(path, *imports):
    """The process that is copied, for a search path, as long as this one lives."""
    prepared = Prepared(PYTHON, environment(path.split(os.pathsep)), *imports)
    atexit.register(prepared.close)
    return prepared


def in_this_process(call):
    """What a program says and ends with that is called here, where its libraries are imported."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = call()
        except SystemExit as end:
            code = end.code
    return subprocess.CompletedProcess([], code, out.getvalue(), err.getvalue())


def script_here(text):
    """What a script prints and ends with, called here."""
    return in_this_process(lambda: exec(compile(text, "script.py", "exec"), {}))


def certify(name, *words, **options):
    return run("certify", f"tests.targets:{name}", *FEW, *words, **options)


def refused_compiled(target, call, folder):
    """The script of what is wrong in a target as it runs compiled, which shows it by a call."""
    words = (*FEW, "--clause", "A1", "--fail-fast", "--report", str(folder))
    done = run("certify", target, *words, "--compiled", "static")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "compiled      static\n" in done.stdout
    (script,) = folder.glob("*.py")
    text = script.read_text()
    assert call in text
    assert "from spec" not in text
    assert run(program=(str(script),)).returncode == 1
    return script
