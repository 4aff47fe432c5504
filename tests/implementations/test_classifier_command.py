"""The command line of the classifier: exit codes, output, pictures, files and datasets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from matplotlib import image

from implementations.classifier import __main__ as door
from implementations.classifier import command_line
from implementations.classifier.documents import Unusable
from implementations.classifier.files import written
from tests.implementations.classifier_data import FEW, in_folder, refused
from tests.night import deep
from tests.shell import in_this_process

pytestmark = pytest.mark.classifier
FAULTS = "implementations.classifier.faults"
QUICK = (2, 6)  # epochs, steps


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return in_folder(tmp_path / "news")


class Quick:
    """The output, the files and the pictures of a quick run.

    epochs, steps: those of the run. If they are those of `--quick` itself, no options give them,
    and the command runs in a new process, as on a command line.
    """

    def __init__(self, folder: Path, epochs: int, steps: int) -> None:
        self.epochs, self.steps = epochs, steps
        self.folder, self.file = folder / "pictures", folder / "deep" / "results.json"
        words = ["--quick", "--json", str(self.file), "--pictures", str(self.folder)]
        if (epochs, steps) != QUICK:
            words += ["--epochs", str(epochs), "--steps", str(steps)]
            self.done = in_this_process(lambda: command_line.main(words))
        else:
            self.done = subprocess.run(
                [sys.executable, "-W", "error", "-m", "implementations.classifier", *words],
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
                env={**os.environ, "OMP_NUM_THREADS": "1"},
            )


@pytest.fixture(scope="module", params=[(1, 2), deep(QUICK)], ids=str)
def quick(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Quick:
    return Quick(tmp_path_factory.mktemp("quick"), *request.param)


@pytest.mark.slow
def test_the_quick_run_certifies_and_prints_three_tables(quick):
    assert quick.done.returncode == 0, quick.done.stdout + quick.done.stderr
    assert quick.done.stderr == ""  # no progress bar unless it is a terminal
    heading, curves, order, drawn, verdict = quick.done.stdout.split("\n\n")
    assert heading.startswith(f"918 + 307 documents, 5 classes, {quick.epochs} epochs")
    rows = [line.split() for line in heading.splitlines()[3:]]
    assert [row[0] for row in rows] == ["torch", "naive", "efficient", "efficient,", "ours"]
    assert all("89,605" in row for row in rows)
    assert [row[-1] for row in rows] == ["1.00", "1.41", "1.20", "1.26", "-"]
    assert curves.count("inside: holds") == 5
    assert curves.count("fault: ") == curves.count("outside: holds") == 6
    assert order.count(": holds") == 9
    assert "BROKEN" not in quick.done.stdout
    assert drawn == f"pictures in {quick.folder}"
    assert verdict == "certified\n"


@pytest.mark.slow
def test_its_json_file_has_the_numbers(quick):
    found = json.loads(quick.file.read_text())
    assert found["certificate"]["passed"] is True
    assert len(found["certificate"]["losses"]) == len(found["certificate"]["budget"]) == quick.steps
    assert {law["ratio"] <= 1 for law in found["certificate"]["laws"]["ours"] if law["same"]} == {
        True
    }
    accuracies = {name: m["epochs"][-1]["accuracy"] for name, m in found["models"].items()}
    guessing = 1 / len(found["classes"])
    assert all(quick.epochs * guessing < x < 0.95 for x in accuracies.values()), accuracies
    assert found["classes"] == ["weather", "railway", "kitchen", "orchestra", "football"]


@pytest.mark.slow
def test_its_pictures_are_valid_files(quick):
    assert {file.name for file in quick.folder.iterdir()} == {
        "losses.png",
        "differences.png",
        "attention.png",
    }
    for file in quick.folder.iterdir():
        assert file.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        pixels = image.imread(file)
        height, width, _ = pixels.shape
        assert height > 300
        assert width > 800
        assert len({tuple(row) for row in pixels.reshape(-1, pixels.shape[2])[::97].tolist()}) > 3


def test_a_folder_in_the_published_format(folder, capsys, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    assert command_line.main(["--dataset", str(folder), *FEW]) == 0
    assert "24 + 6 documents, 2 classes, 1 epochs" in capsys.readouterr().out
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.slow
def test_runs_are_reproducible_except_for_seconds(folder, tmp_path):
    found = []
    for name in ("one.json", "other.json"):
        assert (
            command_line.main(["--dataset", str(folder), *FEW, "--json", str(tmp_path / name)]) == 0
        )
        found.append(json.loads((tmp_path / name).read_text()))
        for model in found[-1]["models"].values():
            assert model.pop("seconds") > 0
    assert found[0] == found[1]


def test_a_faulty_layer_is_exit_code_1(folder, capsys, tmp_path):
    fault, file = f"{FAULTS}:ForgetsTheScale", tmp_path / "c.json"
    threads = torch.get_num_threads()
    words = ["--dataset", str(folder), *FEW, "--layer", fault, "--json", str(file)]
    assert command_line.main(words) == 1
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if "BROKEN" in line and line.startswith(fault)]
    assert out.endswith("\nNOT CERTIFIED\n")
    assert json.loads(file.read_text())["certificate"]["passed"] is False
    assert torch.get_num_threads() == threads


def test_a_layer_without_numbers_is_exit_code_1_and_its_json_is_json(folder, tmp_path):
    file = tmp_path / "c.json"
    layer = "tests.implementations.test_classifier:Answers"
    words = ["--dataset", str(folder), *FEW, "--layer", layer, "--json", str(file)]
    assert command_line.main(words) == 1
    assert "NaN" not in file.read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--epochs", "0"], "argument --epochs: '0' is no whole number of at least 1"),
        (["--seed", "-1"], "argument --seed: '-1' is no whole number of at least 0"),
        (["--quik"], "unrecognized arguments: --quik"),
        (["--dataset", "nowhere"], "'nowhere' is neither a folder nor an OWNER/NAME of the hub"),
        (["--layer", "nowhere:Layer"], "there is no module 'nowhere'"),
        (["--layer", "torch:Tensor"], "'torch:Tensor' is no layer: want a subclass of torch.nn"),
        (["--layer", "torch.nn:Linear"], "'torch.nn:Linear' is no layer: TypeError: "),
        (["--json", "."], ". is a folder, and a file is to be written"),
        (["--json", "a.txt/c.json"], "is no folder to write to"),
        (["--pictures", "a.txt"], "a.txt is no folder"),
        (["--pictures", "a.txt/b"], "is no folder to write to"),
    ],
)
def test_bad_arguments_are_one_line_and_exit_code_2(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").touch()
    before = sorted(tmp_path.rglob("*"))
    assert command_line.main(words) == 2
    refused(capsys, message)
    assert sorted(tmp_path.rglob("*")) == before


def test_pictures_need_matplotlib_and_the_rest_needs_more(capsys, monkeypatch):
    monkeypatch.setattr(command_line, "find_spec", lambda _: None)
    assert command_line.main(["--quick"]) == 2
    refused(capsys, "matplotlib cannot be found")
    monkeypatch.setattr(door, "find_spec", lambda name: None if name == "tokenizers" else name)
    assert door.main() == 2
    refused(capsys, "tokenizers cannot be found: pip install tokenizers")


def test_all_files_are_written_or_none(tmp_path):
    good = tmp_path / "good.txt"
    good.write_bytes(b"old")
    with pytest.raises(Unusable, match="cannot be written"):
        written({good: b"new", good / "below": b"new"})
    assert good.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [good]
    written({good: b"new"})
    assert good.read_bytes() == b"new"
