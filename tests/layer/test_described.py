"""Layers that are not built, named or called as torch's, by a dozen lines that say how they are."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import about, certify
from spec.certification.explaining.reduction import reduced
from spec.certification.target.probing import probed
from spec.comparison import same_bits
from spec.kinds import KINDS
from spec.layer.plug import layer
from spec.layer.plug.described import Form, read
from spec.layer.plug.trials import apart
from spec.layer.record import BUILT_WITH, Capability, Layer
from spec.layer.state import APART, TORCH
from spec.trial import broken
from tests.judging import QUICK, found
from tests.night import deep
from tests.shell import run

FOLDER = Path(__file__).parent / "descriptions"
CLAUSES = about("layer")
FEW = ("--profile", "quick", "--dtype", "float32")
NAMES = {
    "c_attn.weight": "W_q W_k W_v",
    "c_attn.bias": "b_q b_k b_v",
    "c_proj.weight": "W_o",
    "c_proj.bias": "b_o",
}


OF = {
    "CausalSelfAttention": "nanogpt.toml",
    "BertSelfAttention": "bert.toml",
    "Attention": "vit.toml",
    "LlamaAttention": "llama.toml",
    "WhisperAttention": "whisper.toml",
    "PackedAttention": "packed.toml",
}
IDLE = {"fully-masked": "nan"}  # as BERT and Llama have it


@cache
def described(name: str, as_for: str = "") -> Layer:
    """A layer of the world as a record, ready to be put problems that it answers.

    as_for: another layer, whose description fits but for the name.
    """
    from tests.targets import described as described_layers

    target, of = getattr(described_layers, name), as_for or name
    said = read(str(FOLDER / OF[of]), getattr(described_layers, of))
    if as_for:
        said["make"].function.__globals__[as_for] = target
    declared = IDLE if "masks" in said else {}
    raw = layer(target, **said, dtypes=("float32",), conventions=declared)
    return probed(KINDS["layer"].conventions.under(raw, {})).by_dtype["float32"]


def of_nanogpt(build: str) -> Layer:
    """A layer that is built as nanoGPT's, described in Python."""
    from tests.targets import described as there

    block = getattr(there, build)
    make = lambda A, H, bias: block(there.Config(n_embd=A, n_head=H, bias=bias))  # noqa: E731
    return layer(block, names=NAMES, make=make, inputs=1, causal="always")


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("clauses", [("--clause", "L1,L2,L21,L34"), deep(())])
def test_the_layer_of_nanogpt_is_certified_from_the_command_line(
    clauses: tuple[str, ...], tmp_path: Path
) -> None:
    file = FOLDER / "nanogpt.toml"
    assert len(file.read_text().splitlines()) <= 12
    words = ("tests.targets.described:CausalSelfAttention", "--description", str(file))
    done = run("certify", *words, *FEW, *clauses, "--json", str(tmp_path / "c.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "CausalSelfAttention: certified (quick)" in done.stdout
    assert "causality=always" in done.stdout
    assert "unsupported: more than 33 tokens" in done.stdout  # its block has 64
    assert "queries and keys of their own" in " ".join(done.stdout.split())
    assert f"--description {file}" in done.stdout


@pytest.mark.torch
@pytest.mark.parametrize("number", ["L1", "L2", "L3", "L22", "L34", "L44"])
@pytest.mark.parametrize("name", OF)
def test_layers_of_the_world_keep_the_clauses(name: str, number: str) -> None:
    assert len((FOLDER / OF[name]).read_text().splitlines()) <= 12
    record, clause = described(name), CLAUSES[number]
    assert clause.binds(record)
    finding = found(clause, record, "float32", QUICK)
    assert finding.violation is None, finding.violation
    assert finding.examples
    assert not finding.refused


@pytest.mark.torch
def test_what_a_description_leaves_out_is_not_asked() -> None:
    nano, bert = described("CausalSelfAttention"), described("BertSelfAttention")
    llama, c = described("LlamaAttention"), Capability
    assert not {c.APART, c.FUTURE, c.MASK, c.PADDING, c.WIDTHS, c.GROUPS} & nano.answers
    assert {c.CAUSAL, *BUILT_WITH.values(), c.UNBIASED, c.STILL} <= nano.answers
    assert {c.PADDING, c.FUTURE, *BUILT_WITH.values()} <= bert.answers
    assert not {c.MASK, c.BIAS, c.CAUSAL, c.UNBIASED} & bert.answers
    assert bert.name == "BertSelfAttention, with an output projection"
    assert {c.CAUSAL, c.MASK, c.BIAS, c.PADDING, c.UNBIASED, c.GROUPS} <= llama.answers
    assert not {c.STILL, *BUILT_WITH.values(), c.HEAD_MASK} & llama.answers


@pytest.mark.torch
@pytest.mark.parametrize("how", [{"clauses": ("L1",), "fail_fast": True}, deep({})])
def test_what_becomes_of_idle_queries_is_recognised_by_padding_alone(how: Any) -> None:
    from tests.targets.described import BertSelfAttention

    said = read(str(FOLDER / OF["BertSelfAttention"]), BertSelfAttention)
    asked = {"profile": "quick", "dtypes": ("float32",), **how}
    certificate = certify(layer(BertSelfAttention, **said), **asked)
    assert any("fully-masked=nan" in line for line in certificate.advice)
    if how:
        return  # causes are looked for at night
    (cause,) = certificate.causes
    assert "correct under the convention fully-masked=nan" in cause.lens


@pytest.mark.torch
def test_a_layer_may_have_some_biases_and_no_others() -> None:
    whisper, packed = described("WhisperAttention"), described("PackedAttention")
    assert {kind for kind in BUILT_WITH.values() if kind not in whisper.answers} == {
        BUILT_WITH["b_k"]
    }
    assert {*BUILT_WITH.values()} & packed.answers == {BUILT_WITH["b_o"]}
    assert Capability.UNBIASED not in whisper.answers | packed.answers
    for number, of in {"L13": (), "L15": (whisper,), "L16": (whisper, packed)}.items():
        assert [x for x in (whisper, packed) if CLAUSES[number].binds(x)] == [*of]


@pytest.mark.torch
@pytest.mark.parametrize("number", ["L1", "L15"])
def test_a_bias_that_only_some_layers_have_may_not_be_forgotten(number: str) -> None:
    record = described("ForgetsTheValueBias", as_for="WhisperAttention")
    finding = found(CLAUSES[number], record, "float32", QUICK)
    assert finding.violation is not None
    assert finding.problem.biases == ("b_q", "b_v", "b_o")


@pytest.mark.quick("TilesKeyHeads")
@pytest.mark.torch
@pytest.mark.parametrize("build", ["TilesKeyHeads", "TurnsBackwards"])
def test_key_heads_and_turns_are_judged(build: str) -> None:
    record = described(build, as_for="LlamaAttention")
    finding = found(CLAUSES["L1"], record, "float32", QUICK)
    assert finding.violation is not None
    smaller, _ = reduced(CLAUSES["L1"], record, finding.problem, record.answers, seconds=2.0)
    assert broken(CLAUSES["L1"], record, smaller) is not None
    assert (smaller.key_heads < smaller.H) == (build == "TilesKeyHeads")
    assert smaller.B == 1


@pytest.mark.quick("SeesAhead", "KeysFirst")
@pytest.mark.torch
@pytest.mark.parametrize("build", ["Unscaled", "SeesAhead", "KeysFirst"])
def test_a_faulty_layer_is_refused_with_a_counterexample(build: str) -> None:
    assert found(CLAUSES["L1"], of(of_nanogpt(build)), "float32", QUICK).violation is not None
    certificate = certify(
        of_nanogpt(build), profile="quick", dtypes=("float32",), clauses="L1", fail_fast=True
    )
    assert certificate.exit_code == 1
    example = certificate.failures[0].counterexample
    assert example is not None
    assert example.problem.causal
    assert example.problem.N <= 3
    assert not example.script, "which could not say how the layer is built"


def of(record: Layer) -> Layer:
    """The record under its own conventions."""
    return KINDS["layer"].conventions.under(record, {})  # type: ignore[no-any-return]


@pytest.mark.torch
def test_a_layer_that_is_always_causal_has_to_say_so() -> None:
    record = of_nanogpt("CausalSelfAttention").but(conventions={})
    options = {"profile": "quick", "dtypes": ("float32",), "clauses": "L1"}
    certificate = certify(record, **options, fail_fast=True)  # type: ignore[arg-type]
    assert certificate.exit_code == 1
    assert any("causality=always" in line for line in certificate.advice)
    assert certify(record, **options, conventions={"causality": "always"}).passed  # type: ignore[arg-type]


@pytest.mark.torch
def test_a_described_mask_of_keys_takes_the_place_of_no_key() -> None:
    """Where a call is watched, inputs and masks are put side by side, by their names."""
    from torch.nn import MultiheadAttention

    names = {name: parts for name, parts in TORCH.items() if name not in APART}
    make = lambda A, H: MultiheadAttention(A, H, batch_first=True)  # noqa: E731
    masks = {"key_padding_mask": "hidden (B, M)"}
    record = layer(MultiheadAttention, names=names, make=make, masks=masks)
    padded = apart("float32").but(padding=np.arange(5) >= np.array([[4], [3]]))

    same_bits(record.call(padded).out, record.forward(padded))


def test_a_mask_says_what_it_can_be_told() -> None:
    c = Capability
    assert Form.of("added (B, 1, 1, M)").kinds == {c.PADDING}
    assert Form.of("hidden (N, M)").kinds == {c.MASK, c.CAUSAL}
    assert Form.of("seen (B, 1, N, M)").kinds == {c.MASK, c.CAUSAL, c.PADDING}
    everything = {c.MASK, c.BIAS, c.CAUSAL, c.PADDING, c.HEAD_MASK}
    assert Form.of("added (B, H, N, M)").kinds == everything


def test_a_described_layer_returns_weights_where_they_are_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "layer.toml"
    places = {"in_proj_weight": "W_q W_k W_v", "in_proj_bias": "b_q b_k b_v"}
    places |= {"out_proj.weight": "W_o", "out_proj.bias": "b_o"}
    lines = [f'"{name}" = "{ours}"' for name, ours in places.items()]
    file.write_text("\n".join(["[names]", *lines]))
    settled = {"profile": "quick", "dtypes": ["float32"], "clauses": ["L4"]}
    certificate = certify("torch.nn:MultiheadAttention", description=str(file), **settled)
    assert {v.outcome for v in certificate.verdicts} == {"holds"}, certificate


def test_a_parameter_of_one_row_is_seen_to_be_unchanged_however_it_lies() -> None:
    import torch

    from spec.backends.torch import same

    row = torch.arange(3.0).reshape(1, 3).T  # contiguous, says torch, with strides (1, 3)
    assert same(row, row.clone())
    assert not same(row, row + 1)
    assert same(torch.zeros(0, 2), torch.zeros(0, 2))
