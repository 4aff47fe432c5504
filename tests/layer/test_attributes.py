"""Layers whose parameters are attributes: the guide's as written, lists, stacks, dictionaries."""

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import certify
from spec.layer.axes import fault_of, fitting, gathered, laid, turned
from spec.layer.plug import layer
from spec.layer.plug.trials import apart
from spec.runner.layers.attributes import at, put
from tests.shell import NO_CAUSES, run

GUIDE = (Path(__file__).parent.parent.parent / "docs" / "layer.md").read_text(encoding="utf-8")
FEW = {"profile": "quick", "dtypes": ["float32"], "fail_fast": True}
FEWER = ("--profile", "quick", "--dtype", "float32", "--clause", "L1")
RIGHT = dict.fromkeys("qkv", "(H, in, D)")


class Heads:
    """A matrix for each head, in a list."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        shape = num_heads, d_model, d_model // num_heads
        self.W_q, self.W_k, self.W_v = ([*np.ones(shape)] for _ in range(3))
        self.W_o = np.ones((d_model, d_model))

    def __call__(self, x: Any) -> Any:
        return np.concatenate([*map(self.head, *self.three(), [x] * len(self.W_q))], -1) @ self.W_o

    def three(self) -> Any:
        return self.W_q, self.W_k, self.W_v

    def head(self, W_q: Any, W_k: Any, W_v: Any, x: Any) -> Any:
        q, k, v = x @ W_q, x @ W_k, x @ W_v
        s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1], dtype=q.dtype)
        e = np.exp(s - s.max(-1, keepdims=True, initial=-np.inf))
        return e / e.sum(-1, keepdims=True) @ v


class Stacked(Heads):
    """A matrix for each head, in one array, and one for each in the output projection."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads)
        self.params = {name: np.stack(x) for name, x in zip("qkv", super().three(), strict=True)}
        self.params["o"] = self.W_o.reshape(num_heads, -1, d_model)

    def three(self) -> Any:
        return [self.params[name] for name in "qkv"]

    def __call__(self, x: Any) -> Any:
        heads = map(self.head, *self.three(), [x] * len(self.params["q"]))
        return sum(y @ w for y, w in zip(heads, self.params["o"], strict=True))


class One:
    """A head."""


class Objects(Heads):
    """An object for each head, which has its matrices."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__(d_model, num_heads)
        self.heads = [One() for _ in range(num_heads)]
        for name, x in zip("qkv", super().three(), strict=True):
            put(self, f"heads.*.{name}", x)

    def three(self) -> Any:
        return [[getattr(head, name) for head in self.heads] for name in "qkv"]


NAMES = {
    Heads: {f"W_{x}": f"W_{x} {axes}" for x, axes in RIGHT.items()} | {"W_o": "W_o (in, out)"},
    Stacked: {f"params.{x}": f"W_{x} {axes}" for x, axes in RIGHT.items()}
    | {"params.o": "W_o (H, D, out)"},
    Objects: {f"heads.*.{x}": f"W_{x} {axes}" for x, axes in RIGHT.items()}
    | {"W_o": "W_o (in, out)"},
}


def written(folder: Path) -> list[str]:
    """The guide's layer and its description in a folder, and the command for them."""
    (start,) = (x for x in GUIDE.split("\n## ") if x.startswith("A NumPy layer without"))
    for kind, name in (("python", "mine.py"), ("toml", "multiheadattention.toml")):
        (text,) = re.findall(rf"```{kind}\n(# {name}\n.*?)```", start, re.DOTALL)
        (folder / name).write_text(text)
    (command,) = re.findall(r"```\nattention-spec (.*)\n```", start)
    return shlex.split(command)


def test_a_class_may_have_forward_alone_and_its_mask_is_recognised_beside_a_fault(
    tmp_path: Path,
) -> None:
    """Heads that are merged wrongly mix tokens, but with a masked key fewer of them."""
    words = written(tmp_path)
    text = (tmp_path / "mine.py").read_text().replace("__call__", "forward")
    (tmp_path / "mine.py").write_text(text.replace("y.swapaxes(1, 2).reshape", "y.reshape"))
    done = run(*words[:2], "--isolation", "process", cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == '    mask = "seen (N, M)"  # True may attend'
    (tmp_path / "mine.py").write_text(text)
    done = run(*words, *FEWER, "--isolation", "process", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
def test_the_layer_of_the_guide_is_certified_as_written(tmp_path: Path) -> None:
    done = run(*written(tmp_path), cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("MultiHeadAttention: certified\n")


@pytest.mark.slow
@pytest.mark.parametrize("imports", ["", "import torch\n"])
def test_without_a_description_the_error_proposes_it(imports: str, tmp_path: Path) -> None:
    command, target, *_ = written(tmp_path)
    text = (tmp_path / "mine.py").read_text()
    (tmp_path / "mine.py").write_text(imports + text)
    done = run(command, target, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    said, *lines = done.stderr.replace("    ", "").splitlines()
    file = "multiheadattention.toml"
    assert said.endswith(f"; save these lines as {file}, and add --description {file}:")
    assert [x.partition("  #")[0] for x in lines] == [
        "inputs = 1",
        "[names]",
        *(f'W_{x} = "W_{x} (in, out)"' for x in "qkvo"),
        "[masks]",
        'mask = "seen (N, M)"',
    ]


@pytest.mark.slow
def test_a_matrix_that_is_described_the_wrong_way_round_is_a_cause(tmp_path: Path) -> None:
    words = written(tmp_path)
    text = (tmp_path / "multiheadattention.toml").read_text()
    (tmp_path / "multiheadattention.toml").write_text(text.replace("W_o (in, out)", "W_o"))
    words += ("--isolation", "fork")  # in a runner, its script runs the clause
    done = run(*words, "--profile", "quick", "--dtype", "float32", "--clause", "L1", cwd=tmp_path)
    assert done.returncode == 1
    said = " ".join(done.stdout.split())
    assert "1. correct if W_o is described with the axes in and out the other way round" in said
    assert "made.W_o = np.array(" in done.stdout
    script = done.stdout.partition("import sys\n")[2].partition("\n\n")[0]
    lines = "\n".join(line.removeprefix("    ") for line in script.splitlines())
    (tmp_path / "again.py").write_text(f"import sys\n{lines}\n")
    assert run(program=(str(tmp_path / "again.py"),), cwd=tmp_path).returncode == 1


@pytest.mark.slow
def test_a_wrong_layer_of_attributes_is_refused(tmp_path: Path) -> None:
    words = written(tmp_path)
    text = (tmp_path / "mine.py").read_text()
    (tmp_path / "mine.py").write_text(text.replace(" / np.sqrt(q.shape[-1], dtype=q.dtype)", ""))
    assert run(*words, *NO_CAUSES, "--fail-fast", cwd=tmp_path).returncode == 1


@pytest.mark.quick("Heads", "Stacked")
@pytest.mark.parametrize("build", NAMES, ids=lambda x: x.__name__)
def test_heads_may_be_lists_stacks_and_objects(build: type) -> None:
    right = layer(build, names=NAMES[build], inputs=1)
    assert certify(right, **FEW).passed  # type: ignore[arg-type]
    first, *_ = NAMES[build]
    wrong = layer(build, names={**NAMES[build], first: "W_q (H, D, in)"}, inputs=1)
    assert not certify(wrong, **FEW).passed  # type: ignore[arg-type]


def test_another_order_of_axes_is_recognised_by_the_shape() -> None:
    plain = {name: text.partition(" (")[0] for name, text in NAMES[Heads].items()}
    said = r'W_q: got shape \(3, 6, 2\), want \(6, 6\); .* describe it as W_q = "W_q \(H, in, D\)"'
    with pytest.raises(AssertionError, match=said):
        layer(Heads, names=plain, inputs=1).forward(apart("float32").but(arrays=1))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("W_q (out, in)", ""),
        ("W_q (D, H, in)", ""),
        ("b_q (H, D)", ""),
        ("W_q W_k W_v (in, out)", ""),
        ("W_q (A, A)", "has no such axes"),
        ("W_q (in, out", "has no such axes"),
        ("W_q (in, H)", "W_q has the axes (out, in) or (H, D, in), in any order"),
        ("W_o (H, in, D)", "W_o has the axes (out, in) or (out, H, D), in any order"),
        ("b_o (H, D)", "b_o has the axes (out), in any order"),
        ("W_q W_k (H, in, D)", "several matrices in one array"),
    ],
)
def test_axes_that_there_are_not_are_told(text: str, said: str) -> None:
    assert said in fault_of(text)
    assert bool(fault_of(text)) == bool(said)


@pytest.mark.parametrize("text", ["W_q", "W_q (in, out)", "W_q (H, in, D)", "W_q (in, D, H)"])
def test_what_is_laid_out_is_gathered(text: str) -> None:
    x = np.arange(6 * 5).reshape(6, 5)
    assert (gathered(laid(x, text, 2), text) == x).all()
    assert text in fitting(x, ["W_q"], 2, laid(x, text, 2).shape)
    assert turned(turned(text)) == text


def test_a_path_leads_to_an_attribute_and_to_an_entry() -> None:
    made = Stacked(4, 2)
    put(made, "params.q", np.zeros((2, 4, 2)))
    assert not at(made, "params.q").any()
    assert at(made, "params.none") is None
    assert at(made, "nothing.q") is None
    put(made, "W_q", np.zeros((2, 4, 2)))
    assert isinstance(made.W_q, list)
