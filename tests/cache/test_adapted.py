"""An adapter of a PyTorch cache that imports no torch itself, as a person starts it."""

from pathlib import Path

import pytest

from tests.shell import FEW, run

pytestmark = pytest.mark.torch

STORED = """
import torch


class Stored:
    def __init__(self, batch, heads, width, dtype):
        self.k = torch.zeros(batch, heads, 0, width, dtype=dtype)
        self.v = torch.zeros(batch, heads, 0, width, dtype=dtype)

    def update(self, key, value):
        self.k, self.v = torch.cat([self.k, key], dim=2), torch.cat([self.v, value], dim=2)
        return self.k, self.v


def attend(q, k, v):
    seen = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
    return torch.nn.functional.scaled_dot_product_attention(q, k, v, seen, enable_gqa=True)
"""
ADAPTER = """
import numpy as np
import torch_stored


class Cache:
    def __init__(self, batch, key_heads, width, dtype):
        self.stored = MADE(batch, key_heads, width, dtype)

    def extend(self, query, key, value):
        return torch_stored.attend(query, *self.stored.update(key, value))RETURNED
"""
NAMED, HIDDEN = "torch_stored.Stored", 'getattr(torch_stored, "Sto" "red")'
WRONG = "Cache is no cache: the output has the wrong shape: got (3, 2, 4), want (2, 3, 2, 4)"


def adapter(folder: Path, made: str, returned: str = "") -> str:
    """The name of an adapter that was written to a folder."""
    (folder / "torch_stored.py").write_text(STORED)
    text = ADAPTER.replace("MADE", made).replace("RETURNED", returned)
    (folder / "mine.py").write_text(text)
    return "mine.py:Cache"


@pytest.mark.quick("torch_stored.Stored")
@pytest.mark.parametrize("made", [NAMED, HIDDEN])
def test_it_is_tested_with_torch(made: str, tmp_path: Path) -> None:
    done = run("certify", adapter(tmp_path, made), *FEW, "--clause", "C16", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_an_error_is_that_with_torch(tmp_path: Path) -> None:
    done = run("certify", adapter(tmp_path, NAMED, "[0]"), *FEW, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"error: {WRONG}\n")


@pytest.mark.slow
def test_an_error_that_names_torch_is_told_with_the_option_for_torch(tmp_path: Path) -> None:
    """Nothing in the code says that it is for torch: NumPy is tried first, and then torch."""
    target = adapter(tmp_path, HIDDEN, "[0]")
    text = (tmp_path / "mine.py").read_text()
    hidden = 'getattr(torch_stored, "att" "end")'
    (tmp_path / "mine.py").write_text(text.replace("torch_stored.attend", hidden))
    done = run("certify", target, *FEW, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (2, f"error: with --backend torch: {WRONG}\n")
    done = run("certify", target, *FEW, "--backend", "numpy", cwd=tmp_path)
    assert done.stderr.startswith("error: Cache is no cache: TypeError: zeros(): ")
    assert "(it was given arrays of numpy in float32: --backend and --dtype choose" in done.stderr
