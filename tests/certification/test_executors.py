"""A certificate is the same wherever its clauses are judged, and whoever dies meanwhile."""

from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from spec import certify
from spec.backends import Unsuitable
from spec.certification.doors import requested, so_far, supervising
from spec.certification.isolation import station
from spec.certification.isolation.station import _idle
from spec.certification.judging.edition import edition
from spec.certification.target.versions import versions
from tests.alike import alike, breaking
from tests.night import deep
from tests.shell import run

pytestmark = pytest.mark.usefixtures("many_batches")
DENSE = "implementations.dense:attend"
FEW = {"profile": "quick", "dtypes": "float32,float16"}
ABSENT = "import sys; sys.modules['distributed'] = None; from spec.__main__ import main; "


@pytest.fixture(scope="module", params=["A1,V1,V2,V3", deep("A,S,V")])
def few(request):
    return {**FEW, "clauses": request.param}


@pytest.fixture(scope="module")
def undisturbed(few):
    return alike(certify(DENSE, **few))


class Faulty(Executor):
    """Does tasks at once, in this process; each of them first goes through a function."""

    _max_workers = 2  # whatever the machine has: which task is the third must not depend on it

    def __init__(self, fault):
        self.fault, self.count = fault, 0

    def submit(self, function, /, *arguments):
        self.count += 1
        future = Future()
        if not self.fault(self.count, future, *arguments):
            try:
                future.set_result(function(*arguments))
            except Exception as error:
                future.set_exception(error)
        return future


def loses(count, future, *_):
    if count % 3 == 0:
        future.set_exception(ConnectionError("the cable"))
    return future.done()


def cancels(count, future, *_):
    return count % 3 == 0 and future.cancel()


def sulks(count, *_):
    return count == 3


def has_another_specification(count, future, told, *_):  # noqa: ARG001
    told["edition"] = "another"


def has_other_versions(count, future, told, known, *_):  # noqa: ARG001
    if known is not None:
        known["versions"]["numpy"] = "1.0"


def test_jobs_judge_alike(few, undisturbed):
    assert alike(certify(DENSE, **few, jobs=2)) == undisturbed


@pytest.mark.quick("*ProcessPoolExecutor")
@pytest.mark.parametrize("kind", [ProcessPoolExecutor, ThreadPoolExecutor])
def test_an_executor_judges_alike(kind, few, undisturbed):
    with kind(2) as executor:
        certificate = certify(DENSE, **few, executor=executor)
    assert alike(certificate) == undisturbed
    assert certificate.notes == ()
    assert not _idle  # who worked in this process is gone


@pytest.mark.slow
@pytest.mark.parametrize(
    ("target", "options"),
    [
        ("tests.targets.layers:sines_before_cosines", {"kind": "sinusoidal", "clauses": "R1"}),
        deep("tests.targets:elementwise", {"clauses": "A2"}),
    ],
)
def test_causes_and_examples_are_the_same(target, options):
    few = {"profile": "quick", "dtypes": "float32", **options}
    alone = certify(target, **few)
    with ProcessPoolExecutor(2) as executor:
        shared = certify(target, **few, executor=executor)
    assert alone.causes
    assert alike(shared) == alike(alone)


@pytest.mark.slow
def test_what_a_broken_pool_had_is_judged_at_home(few, undisturbed):
    certificate = certify(DENSE, **few, executor=breaking(5))
    assert alike(certificate) == undisturbed
    (note,) = certificate.notes
    assert note.startswith("lost elsewhere and judged again: ")
    assert note.endswith(" verdicts (BrokenProcessPool)")


def test_an_executor_that_takes_nothing_is_done_without(few, undisturbed):
    executor = ThreadPoolExecutor(1)
    executor.shutdown()
    certificate = certify(DENSE, **few, executor=executor)
    assert alike(certificate) == undisturbed
    assert certificate.notes == ("lost elsewhere and judged again: 0 verdicts (RuntimeError)",)


@pytest.mark.quick("*-loses-*")
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (loses, "ConnectionError"),
        (cancels, "cancelled"),
        (sulks, "TimeoutError"),
        (has_another_specification, "the specification is another one there"),
        (has_other_versions, "versions differ: "),
    ],
)
def test_what_is_lost_is_judged_again(fault, reason, few, undisturbed):
    request = requested(DENSE, {**few, "call_timeout": 3.0})
    supervisor = supervising(request, Faulty(fault))
    supervisor.run()
    certificate = so_far(supervisor)
    whatever = {"command": ""}  # which has the patience
    assert alike(certificate) | whatever == undisturbed | whatever
    assert reason in " ".join(certificate.notes)


@pytest.mark.deep
def test_a_crash_is_told_as_it_is_at_home():
    few = {"profile": "quick", "dtypes": "float32", "clauses": "A,V,P"}
    alone = certify("tests.targets:crashes_when_long", **few, jobs=2)
    with ProcessPoolExecutor(2) as executor:
        shared = certify("tests.targets:crashes_when_long", **few, executor=executor)
    assert shared.ledger["crashed"] == 3
    assert shared.ledger["blocked"] > 0
    assert alike(shared) == alike(alone)


def test_a_target_without_a_name_cannot_be_sent():
    without = "that another process can import"
    with ThreadPoolExecutor(1) as executor, pytest.raises(Unsuitable, match=without):
        certify(lambda query: query, executor=executor)


def test_a_scheduler_without_dask_is_told_in_a_line():
    words = ("certify", DENSE, "--scheduler", "tcp://127.0.0.1:1")
    done = run(*words, program=("-c", f"{ABSENT}sys.exit(main())"))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "`distributed` is needed, which is not installed" in done.stderr


def test_a_gpu_is_no_other_version_to_who_has_not_asked_it_yet():
    told, known = {"edition": edition()}, {"versions": {**versions(["numpy"]), "gpu": "an H200"}}
    station._same(told, known)
    known["versions"]["numpy"] = "1.0"
    with pytest.raises(station.Lost, match="versions differ"):
        station._same(told, known)
