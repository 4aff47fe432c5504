"""An error proposes the description of a PyTorch layer whose parameters have other names."""

import re
from pathlib import Path

import pytest

from spec.layer.plug.guessing import instead
from spec.layer.plug.trials import core
from spec.layer.state import TORCH
from tests.shell import run

pytestmark = pytest.mark.torch

LAYER = """
import torch
from torch import nn
from torch.nn.functional import scaled_dot_product_attention


class Layer(nn.Module):
    def __init__(self, d_model, num_heads):
        super().__init__()
        self.num_heads = num_heads
        MADE

    def forward(self, x):
        q, k, v = (y.unflatten(-1, (self.num_heads, -1)).transpose(1, 2) for y in self.three(x))
        y = scaled_dot_product_attention(q, k, v)
        return self.last(y.transpose(1, 2).flatten(2))
"""
LINEAR = """
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))
        self.last = self.wo.forward

    def three(self, x):
        return self.wq(x), self.wk(x), self.wv(x)
"""
MATRICES = """
        for name in "qkvo":
            setattr(self, f"W_{name}", nn.Parameter(torch.randn(d_model, d_model)))

    def three(self, x):
        return x @ self.W_q, x @ self.W_k, x @ self.W_v

    def last(self, y):
        return y @ self.W_o
"""
TOGETHER = """
        self.qkv = nn.Linear(d_model, 3 * d_model, bias=False)
        self.to_out = nn.Sequential(nn.Linear(d_model, d_model, bias=False), nn.Identity())
        self.last = self.to_out.forward

    def three(self, x):
        return self.qkv(x).chunk(3, dim=-1)
"""
NAMES = {
    LINEAR: [
        f'"w{x}.{kind}" = "{ours}_{x}"'
        for x in "qkvo"
        for kind, ours in (("weight", "W"), ("bias", "b"))
    ],
    MATRICES: [f'W_{x} = "W_{x} (in, out)"' for x in "qkvo"],
    TOGETHER: ['"qkv.weight" = "W_q W_k W_v"', '"to_out.0.weight" = "W_o"'],
}
FEW = ("--profile", "quick", "--dtype", "float64", "--clause", "L1,L2,L3")


@pytest.mark.parametrize("made", NAMES, ids=["linear", "matrices", "together"])
def test_the_layer_is_certified_with_the_description_of_the_error(
    made: str, tmp_path: Path
) -> None:
    (tmp_path / "torch_layers.py").write_text(LAYER.replace("        MADE\n", made))
    words = ("certify", "torch_layers.py:Layer", *FEW)
    done = run(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.count("--description FILE") == 1
    inputs, names = re.findall(r"with the lines: (inputs = 1) and (names = {.*})", line)[0]
    assert 'causal = "always" if each token attends to earlier ones alone' in line
    assert names == f"names = {{{', '.join(NAMES[made])}}}"
    (tmp_path / "mine.toml").write_text(f"{inputs}\n{names}\n")
    done = run(*words, "--description", "mine.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "there",
    [
        {"a.weight": (6, 6), "b.weight": (6, 6), "c.weight": (6, 6)},
        {"q_proj.weight": (6, 6), "k_proj.weight": (6, 6), "gate.weight": (6, 6)},
        {"q.weight": (6, 6), "k.weight": (6, 6), "v.weight": (6, 5)},
        {"in_proj_weight": (18, 6)},  # named as in torch: the error names what is missing
    ],
)
def test_nothing_is_proposed_where_names_and_shapes_do_not_say_it(
    there: dict[str, tuple[int, ...]],
) -> None:
    assert instead(None, there, core("float32"), TORCH) == ""
