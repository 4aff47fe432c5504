"""The command line as people start it: in a process of its own."""

import os
import subprocess
import sys

PYTHON = (sys.executable, "-W", "error")
FEW = ("--profile", "quick", "--dtype", "float32")


def run(*words, cwd=None, program=("-m", "spec"), path=None, timeout=120, start=PYTHON):
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(x for x in (sys.path if path is None else path) if x),
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(
        [*start, *program, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        cwd=cwd,
        env=environment,
    )


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
