"""A layer whose dropout is on is not tested; the error says where its rate is set."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from implementations.multihead import MultiHead
from spec import certify
from spec.backends import Unsuitable
from tests.shell import FEW, run

LAYER = """
import torch
from torch import nn

class Mine(nn.MultiheadAttention):
    def __init__(self, width, heads, rate=0.1, always=False):
        super().__init__(width, heads, batch_first=True)
        self.drop, self.always = nn.Dropout(rate), always

    def forward(self, x):
        y, _ = super().forward(x, x, x)
        return nn.functional.dropout(y, 0.2) if self.always else self.drop(y)
"""
GUIDE = (Path(__file__).parent.parent.parent / "docs" / "layer.md").read_text(encoding="utf-8")
NAMED = """
import torch

class MyAttention(torch.nn.MultiheadAttention):
    def __init__(self, embed_dim, num_heads, dropout=0.1, bias=True):
        super().__init__(embed_dim, num_heads, dropout, bias, batch_first=True)
"""
FEWER = {"profile": "quick", "dtypes": ("float32",), "clauses": ("L1",)}


@pytest.mark.quick("Mine(A, H)-*")
@pytest.mark.torch
@pytest.mark.parametrize(
    ("make", "when"),
    [
        ("Mine(A, H)", "in training mode (drop.p=0.1)"),
        ("Mine(A, H).eval()", "in training mode (drop.p=0.1)"),
        ("Mine(A, H, 0.0, always=True)", "even in evaluation mode"),
        ("Mine(A, H, 0.0)", ""),
    ],
)
def test_a_described_layer_that_drops_is_not_tested(make: str, when: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(LAYER)
    (tmp_path / "mine.toml").write_text(f"make = '{make}'\ninputs = 1\n")
    words = ("mine.py:Mine", "--description", "mine.toml", *FEW, "--clause", "L1")
    done = run("certify", *words, cwd=tmp_path)
    if not when:
        assert done.returncode == 0, done.stdout + done.stderr
        return
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: Mine has dropout on {when}: a layer is tested without dropout; set its rate to 0 "
        "in `make` of the description\n"
    )


@pytest.mark.slow
@pytest.mark.quick("words0")
@pytest.mark.torch
@pytest.mark.parametrize(
    "words",
    [("my_layers.py:MyAttention", "--description", "myattention.toml"), ("built.py:layer",)],
)
def test_a_layer_without_dropout_is_certified_as_the_guide_writes(
    words: tuple[str, ...], tmp_path: Path
) -> None:
    assert f"\nattention-spec certify {' '.join(words)}\n" in GUIDE
    (tmp_path / "my_layers.py").write_text(NAMED)
    for name in ("myattention.toml", "built.py"):
        (text,) = re.findall(rf"^```\w+\n(# {name}\n.*?)^```", GUIDE, re.M | re.S)
        (tmp_path / name).write_text(text)
    done = run("certify", *words, *FEW, "--clause", "L1", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.torch
def test_an_object_and_a_class_say_where_their_rate_is_set() -> None:
    from torch.nn import MultiheadAttention

    class Dropping(MultiheadAttention):
        def __init__(self, *sizes: int, bias: bool = True, dropout: float = 0.5) -> None:
            super().__init__(*sizes, bias=bias, dropout=dropout, batch_first=True)

    line = r"\(dropout=0\.1\).*; set its rate to 0 where the object is built"
    with pytest.raises(Unsuitable, match=line):
        certify(MultiheadAttention(6, 3, batch_first=True, dropout=0.1), **FEWER)
    make = r'with make = "Dropping\(A, H, bias=bias, dropout=0\.0\)"'
    with pytest.raises(Unsuitable, match=rf"\(dropout=0\.5\).*FILE {make}"):
        certify(Dropping, **FEWER)


class Dropping(MultiHead):
    """A layer of NumPy that drops one of a hundred outputs, by NumPy's global generator."""

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        y, a = super().__call__(*inputs, **options)
        return y * (np.random.random(y.shape) > 0.01), a


class Remembering(MultiHead):
    """A layer whose second call is wrong."""

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        y, a = super().__call__(*inputs, **options)
        self.factor = getattr(self, "factor", 0) + 1
        return y * self.factor, a


class DrawnWhenBuilt(MultiHead):
    """A layer that is wrong by a number which it draws when it is built."""

    def __init__(self, *sizes: int, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.factor = np.random.random() + 2

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        y, a = super().__call__(*inputs, **options)
        return y * self.factor, a


def test_a_layer_of_numpy_drops_by_the_global_generator() -> None:
    with pytest.raises(Unsuitable, match="Dropping has dropout on even in evaluation mode: a"):
        certify(Dropping, **FEWER)


@pytest.mark.parametrize("build", [Remembering, DrawnWhenBuilt])
def test_other_answers_that_change_are_failures(build: Any) -> None:
    clauses = {**FEWER, "clauses": ("L1", "L41"), "fail_fast": True}
    assert certify(build, **clauses).exit_code == 1
