"""Descriptions of layers of public libraries, which come with the package, are found by name."""

from pathlib import Path

import pytest

from spec import certify
from spec.backends import Unsuitable
from spec.layer.plug.shipped import content, shipped
from tests.shell import run

ENCODER = "spec.adapters.torch_layers:Encoder"  # which needs no library but torch
FEW = ("--profile", "quick", "--dtype", "float32", "--clause", "L1")


@pytest.mark.torch
def test_a_description_is_found_by_its_name(tmp_path: Path) -> None:
    done = run("certify", ENCODER, "--description", "torch/encoder", *FEW, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "--description torch/encoder" in done.stdout


@pytest.mark.slow
@pytest.mark.torch
def test_python_and_a_pyproject_find_it_too(tmp_path: Path) -> None:
    how = {"profile": "quick", "dtypes": ["float32"], "clauses": ["L1"]}
    assert certify(ENCODER, description="torch/encoder", **how).passed  # type: ignore[arg-type]
    lines = ["[tool.attention-spec.targets.encoder]", f'target = "{ENCODER}"']
    lines += ['description = "torch/encoder"']
    (tmp_path / "pyproject.toml").write_text("\n".join(lines))
    done = run("certify", "encoder", *FEW, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.quick("torch/encoder*")
@pytest.mark.torch
@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "torch/encodre",
            "is no file, and no name of a description; did you mean 'torch/encoder'?",
        ),
        ("@#", "no name of a description: `attention-spec targets` lists those of this package"),
        ("torch/encoder.toml", "cannot be read: No such file or directory; did you mean 'torch"),
    ],
)
def test_an_unknown_name_ends_with_one_line(name: str, line: str, tmp_path: Path) -> None:
    done = run("certify", ENCODER, "--description", name, *FEW, cwd=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr.startswith("error: ")
    assert line in done.stderr


def test_a_file_goes_first_and_a_folder_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    mine = tmp_path / "torch" / "encoder"
    mine.mkdir(parents=True)
    assert content("torch/encoder") == content(str(shipped()["torch/encoder"]))
    mine.rmdir()
    mine.write_text("inputs = 3")
    assert content("torch/encoder") == {"inputs": 3}
    with pytest.raises(Unsuitable, match="is no file, and no name of a description"):
        content("torch")
