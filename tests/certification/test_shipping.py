"""A class of another library is answered with what this package has for it: the command to type.

The libraries are stand-ins with their names: an error is printed before anything is tested.
"""

import json
import shlex
from pathlib import Path

import pytest

from spec.certification.target.recorded import CLASSES, recorded
from tests.certification import here
from tests.shell import run

CLASS = """
import torch


class {}(torch.nn.Module):
    def __init__(self, config, layer=None):
        super().__init__()
        self.width = config.hidden_size

    def forward(self, x):
        return x
"""
GPT2 = "transformers.models.gpt2.modeling_gpt2:GPT2Attention"
TURNED = "`python -m spec certify spec.adapters.transformers_layers:Turned --description"
BERT = "transformers.models.bert.modeling_bert"


def stand_in(folder: Path, target: str, text: str = CLASS) -> None:
    """Write a module that has the name and the class of a target."""
    module, _, name = target.partition(":")
    file = (folder / module.replace(".", "/")).with_suffix(".py")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text.format(name))


@pytest.mark.quick("*BertAttention*")
@pytest.mark.torch
@pytest.mark.parametrize(
    ("target", "said"),
    [
        (GPT2, f"an adapter of this package tests GPT2Attention: {TURNED} transformers/gpt2 "),
        (
            f"{BERT}:BertAttention",
            "this package has no description of BertAttention, but one of BertSelfAttention in the "
            f"same module: `python -m spec certify {BERT}:BertSelfAttention --description ",
        ),
        (
            "transformers.models.new.modeling_new:NewAttention",
            "this package has no description of NewAttention: write one, --description "
            "newattention.toml, as in "
            "docs/layer.md; `python -m spec targets transformers` lists those of other layers "
            "(NewAttention could not be called: AttributeError: ",
        ),
        (
            "torch_mine:Attention",
            "Attention could not be called: AttributeError: 'int' object has no attribute "
            "'hidden_size'; if its parameters have other names, describe it: --description "
            "attention.toml ",
        ),
    ],
)
def test_a_layer_of_a_library_is_told_what_is_shipped(
    target: str, said: str, tmp_path: Path
) -> None:
    stand_in(tmp_path, target)
    done = run("certify", target, "--backend", "torch", cwd=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    assert done.stderr.startswith(f"error: {said}")


LIKE_BERT = """
import torch


class ElectraConfig:
    def __init__(self, hidden_size, num_attention_heads, **_):
        self.hidden_size, self.heads = hidden_size, num_attention_heads


class {}(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        width, self.heads = config.hidden_size, config.heads
        self.query, self.key, self.value = (torch.nn.Linear(width, width) for _ in range(3))

    def forward(self, hidden_states, attention_mask=None):
        three = (f(hidden_states) for f in (self.query, self.key, self.value))
        q, k, v = (x.unflatten(-1, (self.heads, -1)).transpose(1, 2) for x in three)
        s = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
        s = s if attention_mask is None else s + attention_mask
        return (s.softmax(-1) @ v).transpose(1, 2).flatten(2), None
"""


@pytest.mark.slow
@pytest.mark.torch
def test_a_layer_like_one_that_is_described_is_certified_with_the_description_of_the_error(
    tmp_path: Path,
) -> None:
    target = "transformers.models.electra.modeling_electra:ElectraSelfAttention"
    stand_in(tmp_path, target, LIKE_BERT)
    words = ("certify", target, "--profile", "quick", "--dtype", "float32", "--clause", "L1")
    done = run(*words, cwd=tmp_path)
    said, _, lines = done.stderr.partition("\n")
    assert "; the description transformers/bert fits it with other names: save these" in said
    assert lines.startswith('    make = "ElectraSelfAttention(ElectraConfig(hidden_size=A, ')
    (tmp_path / "layer.toml").write_text(lines)
    nan = ("--convention", "fully-masked=nan", "--convention", "fully-masked-bias=nan")
    done = run(*words, *nan, "--description", "layer.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_a_class_that_is_described_is_tested_with_its_description(tmp_path: Path) -> None:
    """By the name under which it is recorded; under others, the error has the command."""
    stand_in(tmp_path, f"{BERT}:BertSelfAttention", LIKE_BERT.replace("Electra", "Bert"))
    nan = ("--convention", "fully-masked=nan", "--convention", "fully-masked-bias=nan")
    few = ("--profile", "quick", "--dtype", "float32", "--clause", "L1", *nan)
    done = run("certify", f"{BERT}:BertSelfAttention", *few, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "note: tested with --description transformers/bert\n" in done.stderr
    (tmp_path / "mine.py").write_text(f"from {BERT} import BertSelfAttention\n")
    done = run("certify", "mine.py:BertSelfAttention", *few, cwd=tmp_path)
    said = f"BertSelfAttention is described in this package: `python -m spec certify {BERT}:"
    assert done.stderr.startswith(f"error: {said}BertSelfAttention --description transformers/bert")


@pytest.mark.slow
@pytest.mark.torch
def test_a_class_that_inherits_from_a_described_one_is_certified_with_the_command_of_the_error(
    tmp_path: Path,
) -> None:
    stand_in(tmp_path, f"{BERT}:BertSelfAttention", LIKE_BERT.replace("Electra", "Bert"))
    text = f"from {BERT} import BertSelfAttention\nclass Mine(BertSelfAttention):\n    pass\n"
    (tmp_path / "mine.py").write_text(text)
    done = run("certify", "mine.py:Mine", cwd=tmp_path)
    known, command = "transformers/bert", "python -m spec certify"
    said = "Mine inherits from BertSelfAttention, which this package describes"
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: {said}: `{command} mine.py:Mine --description {known} ")
    words = shlex.split(done.stderr.partition("`")[2].partition("`")[0])[3:]
    few = ("--profile", "quick", "--dtype", "float32", "--clause", "L1")
    done = run(*words, *few, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.torch
def test_a_description_of_an_adapter_names_the_adapter(tmp_path: Path) -> None:
    stand_in(tmp_path, GPT2)
    words = ("certify", GPT2, "--description", "transformers/gpt2", "--backend", "torch")
    done = run(*words, cwd=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    want = "transformers/gpt2 describes spec.adapters.transformers_layers:Turned"
    assert done.stderr.startswith(f"error: {want}: {TURNED} transformers/gpt2 ")


@pytest.mark.parametrize(
    ("target", "adapter"),
    [
        ("flax.linen.attention:MultiHeadDotProductAttention", "Linen"),
        ("flax.nnx.nn.attention:MultiHeadAttention", "Nnx"),
    ],
)
def test_a_layer_of_jax_is_told_its_adapter(target: str, adapter: str, tmp_path: Path) -> None:
    stand_in(tmp_path, target, "class {}:\n    def __call__(self, x): return x\n")
    done = run("certify", target, "--backend", "jax", cwd=tmp_path)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1), done.stderr
    command = f"`python -m spec certify spec.adapters.flax_layers:{adapter} --dtype float32 "
    name = target.partition(":")[2]
    assert done.stderr.startswith(f"error: an adapter of this package tests {name}: {command}")
    assert (
        "(layers of jax need an adapter: a class of NumPy arrays, as in docs/layer.md)"
        in done.stderr
    )


def test_a_layer_of_jax_without_an_adapter_is_told_how_to_write_one() -> None:
    done = here.run("certify", "tests.targets.layers:Attends", "--backend", "jax")
    assert done.returncode == 2
    want = "layers of jax need an adapter: a class of NumPy arrays, as in docs/layer.md"
    assert done.stderr == f"error: {want}\n"


def test_every_class_has_an_adapter_that_is_recorded_and_names_the_class() -> None:
    targets, folder = {x.target for x in recorded()}, CLASSES.parent
    for known, target in json.loads(CLASSES.read_text(encoding="utf-8")).items():
        assert target in targets, known
        module, _, name = target.removeprefix(".adapters.").partition(":")
        text = (folder / f"{module}.py").read_text(encoding="utf-8")
        assert name in text
        assert known.partition(":")[2].removesuffix("Layer") in text, known
