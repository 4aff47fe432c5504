"""Targets of other libraries: the list that is installed, and what it says of one of them."""

import json

import pytest

from spec import certify
from spec.backends import Unsuitable
from spec.certification import command_line
from spec.certification.target import recorded
from spec.layer.plug.shipped import shipped
from tests.shell import FEW, run

LLAMA = "transformers.models.llama.modeling_llama:LlamaAttention"
MULTIHEAD = "torch.nn:MultiheadAttention"
ROW = {
    "target": "library.layers:Attention",
    "description": "",
    "options": "",
    "library": "library",
    "version": "1.2",
    "verdict": "certified",
}


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """Writes rows that take the place of what is recorded."""
    monkeypatch.setattr(recorded, "FILE", tmp_path / "targets.json")

    def write(*found):
        recorded.FILE.write_text(json.dumps([{**ROW, **row} for row in found]))
        recorded.recorded.cache_clear()

    yield write
    recorded.recorded.cache_clear()


def test_the_command_lists_targets_descriptions_versions_and_verdicts():
    done = run("targets")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert "transformers 5.24.0" in lines
    (line,) = [x for x in lines if f" {LLAMA} " in x]
    assert line.startswith("  not certified, for 1 cause, in float64 only  ")
    assert f" layer      {LLAMA} --description transformers/llama --convention " in line
    assert any(x.split()[-1] == MULTIHEAD for x in lines)
    assert any("spec.adapters.flax_layers:Linen" in x for x in lines)
    assert all(f"--description {name}" in done.stdout for name in shipped())
    assert run("list", "targets").stdout == done.stdout


def test_words_choose_targets():
    done = run("targets", "Llama", "transformers/")
    assert done.returncode == 0
    heading, line = done.stdout.splitlines()
    assert heading == "transformers 5.24.0"
    assert LLAMA in line
    (line,) = run("targets", "GPT2Attention").stdout.splitlines()[1:]  # the class of an adapter
    assert "transformers_layers:Turned" in line
    done = run("targets", "llama", "@#")
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (2, "", 1)
    assert done.stderr == "error: no target has 'llama @#': `attention-spec targets` lists all\n"


@pytest.mark.slow
@pytest.mark.torch
def test_a_certificate_of_a_recorded_target_says_so_beside_it():
    done = run("certify", MULTIHEAD, *FEW, "--clause", "L1")
    assert done.returncode == 0
    assert "note: recorded in the ledger with torch " in done.stderr
    assert "is an adapter of" not in done.stdout
    assert "recorded in the ledger" not in done.stdout


def test_what_is_recorded_is_printed_before_the_target_is_tested(rows, monkeypatch, capsys):
    rows({})

    def certified(*_):
        raise Unsuitable("testing has begun")

    monkeypatch.setattr(command_line, "certified", certified)
    assert command_line.main(["certify", ROW["target"]]) == 2
    told = "note: recorded in the ledger with library 1.2: certified"
    assert capsys.readouterr().err.splitlines() == [told, "error: testing has begun"]


@pytest.mark.slow
@pytest.mark.torch
def test_a_layer_that_needs_a_description_of_this_package_is_tested_with_it():
    done = run("certify", "spec.adapters.torch_layers:Encoder", *FEW)
    assert "note: tested with --description torch/encoder\n" in done.stderr
    assert "clauses       " in done.stdout
    assert " --description torch/encoder" in done.stdout.rpartition("\nrepeat ")[2]


@pytest.mark.slow
@pytest.mark.torch
def test_the_report_on_an_adapter_names_the_class_that_it_is_for():
    target = "spec.adapters.torch_layers:Quantizable"
    certificate = certify(target, profile="quick", dtypes=["float32"], clauses=["L4"])
    said = "Quantizable is an adapter of torch.ao.nn.quantizable:MultiheadAttention"
    assert f"\nnote          {said}\n" in str(certificate)


def test_a_note_is_about_the_target_with_the_same_description(rows):
    rows({"description": "library/layer"}, {"target": ".adapters.x:y", "verdict": "not certified"})
    said = "recorded in the ledger with library 1.2: "
    assert recorded.note("library.layers:Attention", "library/layer") == f"{said}certified"
    assert recorded.note("spec.adapters.x:y", None) == f"{said}not certified"
    assert recorded.description_for("library.layers:Attention") == "library/layer"
    assert recorded.description_for("spec.adapters.x:y") is None
    assert recorded.note("library.layers:Attention", None) == ""
    assert recorded.note("library.layers:Attention", "mine.toml") == ""
    assert recorded.note("library.layers:Other", None) == ""


def test_a_note_says_where_a_target_is_correct_if_that_is_short(rows):
    wrong = {"verdict": "not certified, for 1 cause"}
    said = "recorded in the ledger with library 1.2: not certified, for 1 cause"
    for region, words in (("not float64", "; correct when not float64"), ("not " * 50, "")):
        rows({**wrong, "region": region})
        assert recorded.note("library.layers:Attention", None) == said + words


def test_a_note_on_several_entries_has_the_options_of_each(rows):
    wrong = {"verdict": "incomplete", "region": "causal"}
    rows({}, {"options": "--b"}, {"options": "--c", **wrong})
    said, target = "recorded in the ledger with library 1.2: ", "library.layers:Attention"
    options = "certified; certified (tested with --b); incomplete (tested with --c)"
    assert recorded.note(target, None) == said + options
    rows({"options": "--a " * 50}, {"options": "--b " * 50}, {"options": "--c", **wrong})
    listing = f"(`python -m spec targets {target}` lists the options of each)"
    assert recorded.note(target, None) == f"{said}certified; incomplete {listing}"


def test_a_note_has_the_options_that_the_verdict_is_about(rows):
    wrong = {"verdict": "not certified", "region": "not float64"}
    rows({**wrong, "options": "--dtype float32 --convention a=b"})
    said = "not certified (tested with --dtype float32 --convention a=b); correct when not float64"
    line = recorded.note("library.layers:Attention", None)
    assert line == f"recorded in the ledger with library 1.2: {said}"


def test_a_table_has_a_heading_for_each_library_and_arguments_of_certify(rows):
    rows(
        {"description": "library/layer", "options": "--seed 1", "kind": "layer"},
        {"target": "library:f", "verdict": "incomplete"},
        {"library": "other"},
    )
    assert recorded.listed(()).splitlines() == [
        "library 1.2",
        "  certified   layer      library.layers:Attention --description library/layer --seed 1",
        "  incomplete  attention  library:f",
        "other 1.2",
        "  certified   attention  library.layers:Attention",
    ]
    with pytest.raises(Unsuitable, match="no target has 'x y'"):
        recorded.listed(("x", "y"))
