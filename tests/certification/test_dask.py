"""Two workers of Dask judge as one process does, whoever of them dies, and their scheduler too."""

import os
import signal
import socket
import subprocess
import sys

import pytest
from distributed import Client

from spec import certify
from tests.alike import Acting, alike
from tests.shell import run

pytestmark = [pytest.mark.dask, pytest.mark.usefixtures("many_batches")]
DENSE = "implementations.dense:attend"
FEW = {"profile": "quick", "dtypes": "float32,float16", "clauses": "A1,A7,S1,S2,V1,V2,V3"}


class Cluster:
    """A scheduler at an address and two workers, each a process that can be killed."""

    def __init__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self.processes = []
        self.start()

    def start(self):
        program = [sys.executable, "-W", "ignore", "-m", "distributed.cli.dask_"]
        scheduler = ("--host", "127.0.0.1", "--port", str(self.port))
        told = [("scheduler", *scheduler), *[("worker", self.address, "--nthreads", "1")] * 2]
        paths = os.pathsep.join(path for path in sys.path if path)
        for word, *words in told:
            self.processes.append(
                subprocess.Popen(
                    [*program[:-1], program[-1] + word, *words, "--no-dashboard"],
                    env={**os.environ, "PYTHONPATH": paths},
                    cwd="/",  # the target is found from where it was named
                    stderr=subprocess.DEVNULL,
                )
            )

    def stop(self):
        for process in self.processes:
            process.kill()
            process.wait()
        self.processes.clear()

    def restart(self):
        self.stop()
        self.start()


@pytest.fixture(scope="module")
def lasting():
    cluster = Cluster()
    yield cluster
    cluster.stop()


@pytest.fixture
def cluster(lasting):
    """It has a new worker for one that was killed, and is started again if it was stopped."""
    if not lasting.processes:
        lasting.start()
    return lasting


@pytest.fixture
def client(cluster):
    with Client(cluster.address, set_as_default=False, timeout=30) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def undisturbed():
    return alike(certify(DENSE, **FEW))


def test_two_workers_judge_alike(client, undisturbed):
    certificate = certify(DENSE, **FEW, executor=client.get_executor())
    assert alike(certificate) == undisturbed
    assert certificate.notes == ()


@pytest.mark.slow
def test_who_takes_over_from_a_worker_that_is_killed_judges_alike(client, undisturbed):
    def kill():
        os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)

    certificate = certify(DENSE, **FEW, executor=Acting(client.get_executor(), 5, kill))
    assert alike(certificate) == undisturbed
    assert certificate.notes == ("workers that left while clauses were judged: 1",)


@pytest.mark.slow
def test_a_scheduler_that_is_started_again_has_the_rest_judged(client, cluster, undisturbed):
    executor = Acting(client.get_executor(), 5, cluster.restart)
    certificate = certify(DENSE, **FEW, executor=executor)
    assert alike(certificate) == undisturbed
    assert "lost elsewhere and judged again: " in " ".join(certificate.notes)


@pytest.mark.slow
def test_the_command_line_finds_a_scheduler_or_says_in_a_line_that_there_is_none(client, cluster):
    words = ("certify", DENSE, "--profile", "quick", "--clause", "V2", "--scheduler")
    done = run(*words, cluster.address)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("attend: certified (quick)\n")
    client.close()
    cluster.stop()
    done = run(*words, cluster.address)
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: --scheduler {cluster.address}: no scheduler answers")
    assert done.stderr.count("\n") == 1
