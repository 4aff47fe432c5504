"""An error proposes the description of a PyTorch layer whose parameters have other names."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from spec import certify
from spec.backends import Unsuitable
from spec.layer.plug.described import Description
from spec.layer.plug.guessing import instead
from spec.layer.plug.trials import core
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


SAID = "save these lines as layer.toml, and add --description layer.toml:\n"


def proposed(file: str, folder: Path) -> str:
    """The description that the error about a layer of a file proposes, as it is printed."""
    done = run("certify", f"{file}:Layer", *FEW, cwd=folder)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    said, _, lines = done.stderr.partition(SAID)
    assert said.startswith("error: Layer cannot be tested as a layer: ")
    assert "\n" not in said
    return lines


@pytest.mark.slow
@pytest.mark.parametrize("made", NAMES, ids=["linear", "matrices", "together"])
def test_the_layer_is_certified_with_the_description_of_the_error(
    made: str, tmp_path: Path
) -> None:
    (tmp_path / "torch_layers.py").write_text(LAYER.replace("        MADE\n", made))
    lines = proposed("torch_layers.py", tmp_path)
    first, second, *names = lines.replace("    ", "").splitlines()
    assert (first, second) == ("inputs = 1", "[names]")
    assert [x.partition("  #")[0] for x in names] == NAMES[made]
    assert ('# for y = x @ W.T: "W_q"' in lines) == (made is MATRICES)
    (tmp_path / "layer.toml").write_text(lines)
    words = ("certify", "torch_layers.py:Layer", *FEW, "--description", "layer.toml")
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


MASKING = """
import torch
from torch import nn


class Layer(nn.Module):
    def __init__(self, d_model, num_heads, dropout=0.1):
        super().__init__()
        self.num_heads, self.drop = num_heads, nn.Dropout(dropout)
        self.wq, self.wk, self.wv, self.wo = (nn.Linear(d_model, d_model) for _ in range(4))

    def forward(self, x, mask=None):
        q, k, v = (f(x).unflatten(-1, (self.num_heads, -1)) for f in (self.wq, self.wk, self.wv))
        q, k, v = (y.transpose(1, 2) for y in (q, k, v))
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        if mask is not None:
            s = MASKED
        y = self.drop(s.softmax(-1)) @ v
        return self.wo(y.transpose(1, 2).flatten(2))
"""
ALWAYS = "s.masked_fill(torch.ones_like(s).triu(1) > 0, -torch.inf)"


def described(text: str, folder: Path) -> list[str]:
    """The lines that are proposed for a layer, in this process."""
    (folder / "mine.py").write_text(text)
    with pytest.raises(Unsuitable) as error:
        certify(f"{folder}/mine.py:Layer", profile="quick", dtypes=("float64",))
    return str(error.value).partition(SAID)[2].splitlines()


@pytest.mark.parametrize(
    ("masked", "line"),
    [
        ("s.masked_fill(mask == 0, -torch.inf)", 'mask = "seen (N, M)"  # True may attend'),
        ("s.masked_fill(mask, -torch.inf)", 'mask = "hidden (N, M)"  # True masks out'),
        ("s + mask[:, None]", 'mask = "added (B, N, M)"  # added to the scores'),
        (
            "s.masked_fill(mask[:, None, None], -torch.inf)",
            'mask = "hidden (B, M)"  # True masks out',
        ),
    ],
)
def test_masks_and_dropout_are_proposed_as_calls_show_them(
    masked: str, line: str, tmp_path: Path
) -> None:
    first, *_, title, last = described(MASKING.replace("MASKED", masked), tmp_path)
    assert first == '    make = "Layer(A, H, dropout=0.0)"'
    assert (title, last) == ("    [masks]", f"    {line}")


def test_a_layer_that_is_always_causal_is_proposed_as_one(tmp_path: Path) -> None:
    text = MASKING.replace(", mask=None", "").replace("if mask is not None", "if True")
    assert described(text.replace("MASKED", ALWAYS), tmp_path)[2] == '    causal = "always"'


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
    wrapped = SimpleNamespace(told=Description(), build=Description)
    said = instead(wrapped, None, there, core("float32"), "what is wrong")
    assert said.endswith("what is wrong" if "in_proj_weight" in there else "; what is wrong")
    assert "save these lines" not in said


def test_the_error_says_first_which_parameters_cannot_be_matched_and_what_to_write(
    tmp_path: Path,
) -> None:
    other = LAYER.replace("        MADE\n", LINEAR)
    for letter, name in zip("qkv", ("first", "second", "third"), strict=True):
        other = other.replace(f"self.w{letter}", f"self.{name}")
    (tmp_path / "torch_layers.py").write_text(other)
    done = run("certify", "torch_layers.py:Layer", *FEW, cwd=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    said = done.stderr.removeprefix("error: Layer cannot be tested as a layer: ")
    assert said.startswith(
        "no names say which of its parameters are W_q, W_k, W_v: it has first.weight (6, 6), "
    )
    lines = 'write lines such as "first.weight" = "W_q" under [names] in layer.toml, and add '
    assert f"; {lines}--description layer.toml (docs/layer.md); state_dict has no 'in_" in said
