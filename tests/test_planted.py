"""The faults that are planted to measure the tests fit the tree, and there are enough of them."""

import json
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.planted.__main__ import main
from tests.planted.faults import ROOT, Fault, Stale, faults
from tests.planted.running import first_failure, run

AREAS = (
    *("drawing", "comparison", "bounds", "probing", "conventions", "causes", "reduction"),
    *("scripts", "isolation", "saving", "reports", "command_line", "campaign", "plugin"),
)
FAULTS = faults()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_changes_a_few_lines_of_a_program(fault: Fault) -> None:
    text = fault.planted(ROOT)
    assert text != (ROOT / fault.file).read_text()
    compile(text, fault.file, "exec")
    assert max(fault.before.strip("\n").count("\n"), fault.after.strip("\n").count("\n")) < 5
    assert fault.why.endswith(".")


def test_there_are_enough_in_every_area() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS) >= 40
    count = Counter(fault.area for fault in FAULTS)
    assert count.keys() == {*AREAS}
    assert min(count.values()) >= 3


@pytest.mark.parametrize("text", ["", "x = 1\nx = 1\n"])
def test_what_does_not_occur_once_is_stale(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(text)
    with pytest.raises(Stale, match=r"times in a\.py"):
        Fault("two", "area", "a.py", "x = 1", "x = 2", "It is wrong.").planted(tmp_path)


def test_the_first_failure_is_read_from_the_summary_alone() -> None:
    head = "FAILED tests/a.py::in_the_output - no\n=== short test summary info ===\n"
    for test in ("tests/b.py::test", "tests/b.py::test[x - y]", "tests/b.py::T::test[x]"):
        assert first_failure(f"{head}FAILED {test} - assert 0\n1 failed\n") == test
        assert first_failure(f"{head}FAILED {test}\nFAILED tests/c.py::other\n") == test
    assert first_failure("FAILED tests/a.py::in_the_output\n3 passed\n") == ""


def test_a_command_is_stopped_when_its_time_is_over(tmp_path: Path) -> None:
    found = run([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, 0.5)
    assert (found.code, found.failed) == (None, "")


def test_an_interrupted_run_goes_on_and_keeps_what_it_found(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, file = FAULTS[0].name, tmp_path / "found.json"
    entry = {"name": name, "area": "a", "result": "survived", "test": "", "seconds": 1.0}
    file.write_text(json.dumps({"command": ["true"], "faults": [entry]}))
    assert main(["--fault", name, "--results", str(file), "--", "true"]) == 1
    assert "1 planted: 1 survived" in capsys.readouterr().out
    assert main(["--fault", name, "--results", str(file), "--", "false"]) == 2
    assert "holds results of true" in capsys.readouterr().err


def test_a_fault_that_there_is_not_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--fault", "nothing"]) == 2
    assert "no fault 'nothing'" in capsys.readouterr().err
