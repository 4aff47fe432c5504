"""A report names the environment variables that a target mentions and its process lacks."""

from pathlib import Path

import pytest

from spec.boundary.runners import kept, withheld

TEXT = """import os
import numpy as np

def attend(query, key, value):
    if os.environ.get("MY_KERNEL") == "fast":
        return value
    return os.getenv("OMP_NUM_THREADS")
"""


def test_variables_of_libraries_are_given_and_others_are_not() -> None:
    assert all(map(kept, ("PATH", "CUBLAS_WORKSPACE_CONFIG", "PYTORCH_CUDA_ALLOC_CONF")))
    assert not any(map(kept, ("PYTHONPATH", "MY_KERNEL", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN")))


def test_a_note_names_the_variables_that_a_target_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(TEXT)
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("MY_KERNEL", raising=False)
    assert withheld("mine.py:attend", str(tmp_path)) == ""
    monkeypatch.setenv("MY_KERNEL", "fast")
    said = withheld("mine.py:attend", str(tmp_path))
    assert said == (
        "its process does not have the environment variable MY_KERNEL, which its file names: with "
        "--isolation fork it does"
    )
    assert withheld("mine:attend", str(tmp_path)) == said
