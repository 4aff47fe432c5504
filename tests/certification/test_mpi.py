"""Ranks of MPI judge alike: `mpiexec -n 3 python -m mpi4py.futures mine.py` and an executor."""

import sysconfig
from pathlib import Path

import pytest

from tests.shell import PYTHON, run

pytestmark = pytest.mark.mpi
MINE = """\
from mpi4py.futures import MPIPoolExecutor

from spec import certify
from tests.alike import alike

FEW = {"profile": "quick", "dtypes": ("float32", "float16")}

if __name__ == "__main__":
    for target in ("implementations.dense:attend", "tests.targets:elementwise"):
        with MPIPoolExecutor() as ranks:
            certificate = certify(target, executor=ranks, **FEW)
        assert alike(certificate) == alike(certify(target, jobs=2, **FEW)), target
        print(target, certificate.passed)
"""


def test_two_ranks_judge_alike(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    mpiexec = Path(sysconfig.get_path("scripts")) / "mpiexec"
    program = ("-m", "mpi4py.futures", str(tmp_path / "mine.py"))
    done = run(program=program, timeout=300, start=(str(mpiexec), "-n", "3", *PYTHON))
    assert done.returncode == 0, done.stdout + done.stderr
    told = ["implementations.dense:attend True", "tests.targets:elementwise False"]
    assert done.stdout.splitlines() == told
