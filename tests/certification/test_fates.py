"""The report says how a process of a target ended: by a signal, an exit code, or not at all."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from spec import CLAUSES
from spec.attention.plug.trials import square
from spec.certification.isolation import asked as module
from spec.certification.isolation.asked import SIZE, Asked
from spec.certification.isolation.child import Child
from spec.certification.isolation.crew import Crew
from spec.certification.isolation.guard import Crash, Probe, with_crashes
from spec.certification.isolation.workbench import Workbench
from spec.certification.judging.survey import Survey
from spec.certification.target.probed import Refusal
from spec.certification.target.ward import NEVER, Died, Ward, alone
from spec.notation import DTYPES
from tests.certification.made import certificate, verdict

# Calls

# Since 3.12 Python warns where a process is copied that has threads, as one of pytest-xdist has.
copied = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


def ends_with(code: int) -> Callable[[], None]:
    return lambda: os._exit(code)


def dies_of(number: signal.Signals) -> Callable[[], None]:
    return lambda: os.kill(os.getpid(), number)


@copied
@pytest.mark.parametrize(
    ("call", "fate"),
    [
        (signal.pause, NEVER),
        (dies_of(signal.SIGKILL), "the process dies of SIGKILL"),
        (dies_of(signal.SIGTERM), "the process dies of SIGTERM"),
        (ends_with(7), "the process ends with exit code 7"),
        (ends_with(int(signal.SIGALRM)), "the process ends with exit code 14"),
    ],
)
def test_what_a_call_dies_of_is_told(call: Callable[[], None], fate: str) -> None:
    with pytest.raises(Died) as told:
        alone(call, 0.1)
    assert str(told.value) == fate


@copied
def test_calls_that_never_end_use_up_patience_and_those_that_die_use_none() -> None:
    ward = Ward(patience=0.05)
    for call, used in ((ends_with(7), 0.0), (signal.pause, 0.05)):
        left = ward.left
        with pytest.raises(Died):
            ward.answer(call)
        assert ward.left == pytest.approx(left - used)
    assert ward.answer(lambda: 5) == 5


# Children


class Process(subprocess.Popen[str]):
    """One that says nothing, and ends by itself a while after its pipe."""

    def __init__(self, program: str) -> None:
        super().__init__([sys.executable, "-S", "-c", program], stdout=subprocess.PIPE, text=True)


def child(process: Any, **fields: Any) -> Any:
    """A child that runs a clause, as its parent sees it."""
    now = time.monotonic()
    usual = {"item": ("A1", "float32"), "since": now, "began": now}
    usual |= dict.fromkeys(("idle", "hung", "endless"), False)
    found: Any = SimpleNamespace(process=process, **usual | fields)
    found.fate, found.last_asked, found.last_words = lambda: Child.fate(found), "", ""
    found.overdue = lambda patience: Child.overdue(found, patience)
    return found


@pytest.fixture
def silent() -> Iterator[Process]:
    """A process that never ends by itself."""
    process = Process("import signal; signal.pause()")
    yield process
    process.kill()
    process.communicate()


def test_who_says_nothing_hangs_and_was_not_killed_by_anybody_else(silent: Process) -> None:
    late = child(silent, since=time.monotonic() - 3.0)
    others = [child(None), child(None, idle=True, since=0.0)]
    crew: Any = SimpleNamespace(children=[*others, late], patience=2.0)
    assert Crew.overdue(crew) == [late]
    assert (late.hung, late.endless, late.fate()) == (True, False, "no result after 3 s")
    assert silent.wait() == -signal.SIGKILL


def test_who_is_heard_of_for_ever_has_no_end(silent: Process) -> None:
    late = child(silent, began=time.monotonic() - 500.0)
    crew: Any = SimpleNamespace(children=[late], patience=2.0)
    assert Crew.overdue(crew) == [late]
    assert late.fate() == "no end after 500 s"


def test_a_child_that_ends_by_itself_is_given_the_time() -> None:
    """Its pipe is closed before it has ended; whoever stops it then would take it for killed."""
    process = Process("import os, time; os.close(1); time.sleep(0.2); os._exit(7)")
    assert process.stdout is not None
    assert process.stdout.read() == ""
    crew: Any = SimpleNamespace(let_go=lambda one: one.process.kill())
    why = Workbench(crew, CLAUSES).gone(child(process))
    assert why == "the process ended with exit code 7"
    process.communicate()


def test_what_was_asked_last_is_told_and_nothing_of_what_was_asked_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    long, short = square("float32", N=5, M=16).but(causal=True, scale=0.5), square("float32")
    with tempfile.TemporaryFile() as file:
        asked = Asked(file)
        asked.note(3, "attention", "forward", short)
        alone_told = asked.last(3)
        asked.note(3, "attention", "backward", long)
        assert len(asked.last(3)) > len(alone_told)
        asked.note(3, "attention", "forward", short)
        assert asked.last(3) == alone_told
        assert asked.last(2) == ""
        monkeypatch.setattr(module, "in_a_line", lambda _: "x" * 2 * SIZE)
        asked.note(4, "attention", "forward", short)
        assert len(asked.last(4)) == SIZE - 1
        assert (asked.last(3), asked.last(5)) == (alone_told, "")
        asked.close()


# Probes


def probe(dtype: str, *kinds: str, function: str = "forward") -> Probe:
    return Probe(function, "" if function == "forward" else "gradients", kinds, dtype)


@pytest.mark.parametrize("kinds", [("causal",), ("causal", "a boolean mask")])
def test_what_crashed_is_asked_no_more_in_its_format_and_in_later_ones(
    kinds: tuple[str, ...],
) -> None:
    for place, dtype in enumerate(DTYPES):
        crashed = probe(dtype, *kinds)
        for function in ("forward", "backward"):
            found = [crashed.includes(probe(x, *kinds, function=function), DTYPES) for x in DTYPES]
            assert found == [other >= place for other in range(len(DTYPES))]
        assert crashed.includes(probe(dtype, *kinds, "a scale"), DTYPES)
        assert not crashed.includes(probe(dtype, *kinds[1:]), DTYPES)


def test_a_format_in_which_nothing_is_answered_says_nothing_of_others() -> None:
    crashed = probe("float64")
    assert crashed.includes(probe("float64", "causal"), DTYPES)
    assert not crashed.includes(probe("float32", "causal"), DTYPES)
    assert not probe("float64", function="backward").includes(probe("float64"), DTYPES)


def test_a_refusal_that_is_a_crash_leaves_a_certificate_incomplete() -> None:
    crash = Crash(probe("float32", "a boolean mask"), "the process died of SIGABRT")
    refusals = (
        Refusal("a boolean mask", "float32", "forward", str(crash)),
        Refusal("causal", "float32", "forward", "ValueError: no"),
    )
    settled = verdict("M3", "refused", message="a boolean mask")
    kept = {"refusals": refusals, "settled": (settled,), "versions": {}}
    survey = Survey("mine", "attention", "A1", {}, ("A1", "M3"), (), "", **kept)
    found = with_crashes(survey, [crash])
    assert [refusal.crashed for refusal in found.refusals] == [True, False]
    assert [v.outcome for v in found.settled] == ["crashed"]
    for refused, code in ((found.refusals, 3), (refusals, 0)):
        assert certificate(verdict("A1", "holds"), refusals=refused).exit_code == code
