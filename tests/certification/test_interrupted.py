"""A run that is stopped, by whatever means, leaves a certificate of what was judged."""

import json
import os
import signal
import sys
import time

import pytest

from spec.certification.attended import keeping, stopping
from spec.certification.doors import requested, supervising
from spec.certification.ledger.reading import loaded
from tests.shell import FEW, begun

HANGS = """
import pathlib, time
from tests.targets import right

def attend(query, key, value):
    if key.shape[2] > 6:  # which no problem has that is put before all is known
        pathlib.Path("called").touch()
        time.sleep(60)
    return right(query, key, value)
"""


FORK = ("--isolation", "fork")  # for a file that tells of a call


@pytest.fixture(params=["right(query"])
def hanging(tmp_path, request):
    """A run that hangs in a clause, in a session of its own. param: what it returns before."""
    (tmp_path / "mine.py").write_text(HANGS.replace("right(query", request.param))
    words = ("mine.py:attend", *FEW, *FORK, "--clause", "S1,V2", "--json", "c.json")
    process = begun("certify", *words, "--report", "report", cwd=tmp_path)
    while not (tmp_path / "called").exists():
        time.sleep(0.05)
    yield process
    process.kill()
    process.communicate()


def gone(session, seconds=10.0):
    """Whether a session has no process any more, soon."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


@pytest.mark.quick("right(query-15")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_is_interrupted_prints_the_certificate_of_what_was_judged(number, hanging, tmp_path):
    os.killpg(hanging.pid, number)  # as a terminal does, and `timeout`
    out, said = hanging.communicate(timeout=30)
    assert (hanging.returncode, said) == (3, "")
    assert "not run, interrupted\n" in out
    assert (tmp_path / "report" / "certificate.txt").read_text() == out.removesuffix("\n")
    found = json.loads((tmp_path / "c.json").read_text())
    some = ": passed as far as tested" * (found["ledger"]["holds"] > 0)  # it may hang at once
    assert out.startswith(f"attend: incomplete{some}\n")
    assert found["ledger"]["blocked"] >= 1
    assert found["ledger"]["crashed"] == found["ledger"]["violated"] == 0
    assert sum(found["ledger"].values()) == len(found["verdicts"])
    assert gone(hanging.pid)


@pytest.mark.quick("2 *")
@pytest.mark.parametrize("hanging", ["2 * right(query"], indirect=True)
def test_a_run_that_is_stopped_early_says_how_to_get_causes(hanging):
    time.sleep(1.0)  # clauses may be run two at a time: the other one fails meanwhile
    os.killpg(hanging.pid, signal.SIGINT)
    out, _ = hanging.communicate(timeout=30)
    told = " ".join(out.split())
    said = "no causes are known, as the run was stopped (interrupted): for causes, let the run end"
    assert f"{said}, or test a clause that fails alone (--clause " in told, out


def test_who_is_killed_leaves_a_certificate_and_no_process(hanging, tmp_path):
    hanging.send_signal(signal.SIGKILL)
    out, _ = hanging.communicate(timeout=30)
    assert out == ""
    certificate = loaded(tmp_path / "c.json")
    assert certificate.exit_code == 3
    blocked = {v.message for v in certificate.verdicts if v.outcome == "blocked"}
    assert blocked == {"it was not judged when this was written"}
    assert gone(hanging.pid)


def test_a_certificate_is_kept_while_more_is_judged(tmp_path):
    file, left = tmp_path / "c.json", []
    options = {"dtypes": "float32", "profile": "quick", "clauses": "V2,V3,A1"}
    supervisor = supervising(requested("tests.targets:plain", options))
    keep = keeping(supervisor, str(file), every=0)

    def kept():
        keep()
        left.append(loaded(file).ledger["blocked"])

    supervisor.now_and_then = kept
    supervisor.run()
    assert (left[0], left[-1]) == (3, 0)
    assert left == sorted(left, reverse=True)
    assert {1, 2} & {*left}


@pytest.mark.slow
def test_a_certificate_is_not_written_at_every_step(tmp_path):
    file = tmp_path / "c.json"
    options = {"dtypes": "float32", "profile": "quick", "clauses": "A1"}
    supervisor = supervising(requested("tests.targets:plain", options))
    supervisor.now_and_then = keeping(supervisor, str(file))
    supervisor.run()
    assert loaded(file).ledger["blocked"] == 1


def test_the_first_signal_stops_and_the_second_ends():
    stopped = []
    with pytest.raises(KeyboardInterrupt), stopping(lambda: stopped.append(1)):  # noqa: PT012
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopped == [1]
        os.kill(os.getpid(), signal.SIGTERM)
    assert stopped == [1]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        with stopping(lambda: pytest.fail("it was ignored")):
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(sys.platform != "linux", reason="nothing is copied elsewhere")
def test_an_answer_that_nobody_waited_for_is_not_taken_for_the_next():
    from spec.certification.isolation.copying import Copy
    from spec.certification.starting import messages

    ours, theirs = messages()
    with ours, theirs:
        theirs.sendall(b"11")
        one = Copy(ours)
        theirs.sendall(b"11 -9")  # whoever waited for it was interrupted
        theirs.sendall(b"12")
        other = Copy(ours)
        theirs.sendall(b"12 7")
        assert (one.pid, other.pid, other.wait()) == (11, 12, 7)
        for copy in (one, other):
            for stream in (copy.stdin, copy.stdout, copy.stderr):
                stream.close()
