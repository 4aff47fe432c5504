"""The namespaces of a runner: it sees its own processes alone, and they end with it, as it did."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from spec.boundary.runners import BARE, isolated
from spec.runner import spaces
from tests.boundary.living import named
from tests.walked import ROOT

pytestmark = pytest.mark.skipif(not spaces.possible(), reason="no namespaces can be made here")
KINDS = {"as it is": "", "without root": "spaces.wanted = lambda: spaces.ALL | spaces.USER"}


def entered(text: str, kinds: str = "") -> subprocess.CompletedProcess[str]:
    """The end of a process that enters namespaces and then runs a text."""
    lines = (
        "import ctypes, os, signal, time",
        "from pathlib import Path",
        "from spec.runner import spaces",
        kinds,
        "spaces.enter()",
        "os.setsid()",
        textwrap.dedent(text),
    )
    command = [sys.executable, "-c", "\n".join(lines)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, cwd=ROOT
    )


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def kinds(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_it_keeps_its_user_and_sees_its_own_processes_alone(kinds: str) -> None:
    done = entered(
        """
        shown = sorted(int(x.name) for x in Path("/proc").glob("[0-9]*"))
        devices = [x.split(":")[0].strip() for x in open("/proc/self/net/dev") if ":" in x]
        print(os.getpid(), os.getppid(), os.getpgid(1), shown, devices, os.geteuid(), os.getegid())
        """,
        kinds,
    )
    assert done.stderr == ""
    assert done.stdout == f"2 1 1 [1, 2] ['lo'] {os.geteuid()} {os.getegid()}\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("pass", 0),
        ("os._exit(7)", 7),
        ("os._exit(200)", 200),
        ("raise SystemExit(3)", 3),
        ("os.abort()", -signal.SIGABRT),
        ("os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
        ("os.kill(os.getpid(), signal.SIGSEGV)", -signal.SIGSEGV),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("os.kill(1, signal.SIGKILL); os._exit(5)", 5),  # the first of a namespace hears nobody
    ],
)
def test_it_ends_as_the_runner_ends(text: str, code: int, kinds: str) -> None:
    assert entered(text, kinds).returncode == code


def test_all_that_it_has_started_ends_with_it(kinds: str) -> None:
    name = f"left-{os.urandom(4).hex()}"
    done = entered(
        f"""
        for _ in range(3):
            if not os.fork():
                os.setsid()
                if os.fork():
                    os._exit(0)
                ctypes.CDLL(None).prctl(15, {name!r}.encode())
                os.close(1), os.close(2)
                time.sleep(600)
        while sum(x.read_text().strip() == {name!r} for x in Path("/proc").glob("*/comm")) < 3:
            time.sleep(0.01)
        print("started")
        """,
        kinds,
    )
    assert (done.returncode, done.stdout) == (0, "started\n")
    assert named(name) == []


def test_mounts_stay_inside(kinds: str) -> None:
    before = Path("/proc/self/mountinfo").read_text()
    assert entered("pass", kinds).returncode == 0
    assert Path("/proc/self/mountinfo").read_text() == before


def test_the_report_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isolated().endswith(", namespaces")
    monkeypatch.setenv(BARE, "1")
    assert isolated() == "process"


def test_a_system_without_them_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spaces, "wanted", lambda: -1)  # kinds that no system has
    assert spaces.possible.__wrapped__() is False
    monkeypatch.setattr(spaces.platform, "machine", lambda: "another")
    assert spaces.possible.__wrapped__() is False
