"""What is no attention function is certified by the same doors: layers, caches, records."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spec import about, certify, parametrize_with_clauses
from spec.backends import Unsuitable
from spec.certification.as_tests import Run, runs
from spec.certification.explaining.reduction import reduced
from spec.certification.judging.judging import scope_for
from spec.certification.ledger.reading import loaded
from spec.certification.target.probing import probed
from spec.comparison import Violation
from spec.kinds import KINDS
from spec.layer.mistakes import MISTAKES
from spec.layer.plug import layer
from spec.layer.record import Capability
from spec.trial import broken
from spec.written import arrays
from tests.certification import here
from tests.judging import found, unexplained
from tests.night import deep
from tests.shell import NO_CAUSES, run
from tests.targets import layers

QUICK = ("--profile", "quick", "--dtype", "float32")


# A layer, through the command line


@pytest.mark.parametrize("clauses", ["L1,L2,L3,L9,L23,L24", deep(",".join(about("layer")))])
def test_a_right_layer_is_certified(clauses: str) -> None:
    done = run("certify", "implementations.multihead:MultiHead", *QUICK, "--clause", clauses)
    assert done.returncode == 0, done.stdout + done.stderr
    every = clauses.count(",") + 1
    assert f"L layer  {every}/{every}" in done.stdout


@pytest.mark.torch
@pytest.mark.parametrize("clauses", ["L1,L2,L32,L45", deep("L")])
def test_the_layer_of_torch_deviates_and_is_certified(clauses: str) -> None:
    options: dict[str, Any] = {"dtypes": ("float32",), "profile": "quick", "clauses": clauses}
    certificate = certify("torch.nn:MultiheadAttention", **options)
    assert certificate.passed, str(certificate)
    assert certificate.about == "layer"
    deviating = {v.clause for v in certificate.verdicts if v.outcome == "deviates"}
    assert deviating == {"L32", "L45"}


def test_a_wrong_layer_is_refuted_by_a_script_that_runs_alone(tmp_path: Path) -> None:
    words = ("--clause", "L1,L2", "--report", str(tmp_path), "--json", str(tmp_path / "c.json"))
    target = "tests.targets.layers:HalfAsLoud"
    done = run("certify", target, *QUICK, *words)
    assert done.returncode == 1
    said = r"the output is wrong in \d+ of \d+ problems\n   fails 1 clause: L1"
    assert re.search(said, done.stdout)
    text = (tmp_path / "cause-1.py").read_text()
    assert "import spec" not in text
    assert "from spec" not in text
    again = run(program=(str(tmp_path / "cause-1.py"),))
    assert again.returncode == 1, again.stderr
    assert again.stdout.startswith("got")
    assert "Error" not in again.stderr
    certificate = loaded(tmp_path / "c.json")
    example = certificate.failures[0].counterexample
    assert example is not None
    assert max(x.size for x in arrays(example.problem).values()) == 1


@pytest.mark.slow
@pytest.mark.torch
@pytest.mark.parametrize("number", [deep("L1"), "L2", deep("L3")])
def test_a_script_repeats_what_a_layer_of_torch_does(number: str, tmp_path: Path) -> None:
    """Its output, and its gradients by inputs and by parameters."""
    options: dict[str, Any] = {"dtypes": ("float32",), "profile": "quick", "clauses": number}
    target, path = "tests.targets.faulty_torch:Wrong", tmp_path / "wrong.py"
    (failure,) = certify(target, fail_fast=True, **options).failures
    assert failure.clause == number
    assert failure.counterexample is not None
    path.write_text(failure.counterexample.script)
    assert "from spec" not in path.read_text()
    again = run(program=(str(path),))
    assert again.returncode == 1, again.stderr
    assert "Error" not in again.stderr


@pytest.mark.parametrize(
    ("target", "words", "line"),
    [
        ("WithoutOutput", (), "state_dict has no 'out_proj.weight', want one of shape (6, 6)"),
        ("HeadsSideBySide", (), "the wrong shape: got (2, 4, 6, 2), want (2, 4, 6)"),
        ("NoHeads", (), "NoHeads has neither forward nor __call__"),
        ("Attends", ("--layout", "blhd"), "--layout blhd is for an attention function"),
        ("Attends", ("--clause", "K2"), "clause 'K2' is about attention"),
        (
            "Attends",
            ("--convention", "grouping=interleaved"),
            "choose from fully-masked, fully-masked-bias, mask-means",
        ),
        ("Attends", ("--convention", "mask-means=maybe"), "choose from forbid, attend"),
        ("TURNS", ("--kind", "layer"), "is a record about rotary"),
        ("TURNS", ("--convention", "fully-masked=nan"), "choose from pairing, gradients"),
        ("BY_HAND", ("--convention", "pairing=halves"), "is a record already"),
        (
            "Keeps",
            ("--convention", "fully-masked=nan"),
            "'fully-masked' is for an attention function or a layer, not",
        ),
        ("opposite", (), "opposite has 1 positional parameter"),
        ("Attends", ("--backend", "jax"), "layers of jax need an adapter"),
    ],
)
@pytest.mark.parametrize("start", [here.run, deep(run)])
def test_what_is_no_good_is_told_in_a_line(
    target: str, words: tuple[str, ...], line: str, start: Any
) -> None:
    done = start("certify", f"tests.targets.layers:{target}", *QUICK, *words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert line in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.torch
def test_gradients_are_asked_of_the_path_that_shows_weights() -> None:
    options = {"dtypes": ("float32",), "profile": "quick", "clauses": "L1,L2,L3"}
    certificate = unexplained("tests.targets.faulty_torch:DoubledWhereAsked", **options)
    assert {v.clause for v in certificate.failures} == {"L2", "L3"}, str(certificate)


@pytest.mark.slow
def test_a_crash_on_padding_costs_padding_alone(tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    words = ("--clause", "L1,L23,L24", *NO_CAUSES, "--json", str(file))
    done = run("certify", "tests.targets.layers:Aborts", *QUICK, *words)
    assert done.returncode == 3, done.stdout + done.stderr
    assert "SIGABRT while probing a key padding mask, float32" in done.stdout
    outcomes = {v["clause"]: v["outcome"] for v in json.loads(file.read_text())["verdicts"]}
    assert outcomes["L1"] == "holds"


def test_a_gradient_that_is_no_array_is_not_made_one() -> None:
    options = {"dtypes": ("float64",), "profile": "quick", "clauses": "L2"}
    certificate = unexplained(layers.ListsValueGradients, **options)
    assert certificate.exit_code == 1, str(certificate)
    assert [v.clause for v in certificate.failures] == ["L2"]


@pytest.mark.slow
def test_what_is_refused_now_and_then_crashes_no_clause() -> None:
    """Some clauses put several problems at once, and any of them may be refused."""
    certificate = certify(layers.ShortMasks, dtypes=("float32",), profile="quick")
    assert certificate.passed, str(certificate)
    assert "sometimes raises" in str(certificate)


# Every other kind


@pytest.mark.quick("tests*", "implementations.[afmrs]*")
@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("implementations.cached:Growing", None),
        ("implementations.sinusoidal:encode", "sinusoidal"),
        ("implementations.rotary:rotate", "rotary"),
        ("implementations.alibi:bias", "alibi"),
        ("implementations.feed_forward:feed_forward", "feed-forward"),
        ("implementations.dropout:attend", "dropout"),
        ("implementations.merging:merge", "merging"),
        ("tests.targets.layers:TURNS", None),
    ],
)
def test_each_kind_is_certified(target: str, kind: str | None) -> None:
    certificate = certify(target, kind=kind, profile="quick", dtypes=("float32",))
    assert certificate.passed, str(certificate)
    assert certificate.about == kind or kind is None
    assert len(certificate.verdicts) == len(about(certificate.about))


@pytest.mark.quick("alibi", "sinusoidal", "rotary", "feed*", "merging", "dropout")
@pytest.mark.parametrize("kind", KINDS)
def test_a_definition_keeps_its_own_clauses(kind: str) -> None:
    """What guards the search for smaller counterexamples has to be right."""
    record = KINDS[kind].truth()
    for clause in about(kind).values():
        if clause.binds(record) and clause.force == "must":
            finding = found(clause, record, "float32", examples=3, reach="quick")
            assert finding.violation is None, clause.id


@pytest.mark.parametrize("kind", KINDS)
def test_a_mistake_of_each_kind_is_made_smaller_and_recognised(kind: str) -> None:
    known = KINDS[kind]
    clause = about(kind)[known.definition]
    for mistake in known.mistakes.values():
        if mistake.name not in clause.catches:
            continue
        record, dtype = known.subjects[mistake.name], mistake.dtypes[0]
        scope = scope_for(clause, record, dtype, "strict", "quick")
        problem = found(clause, record, dtype, reach="quick").problem
        assert problem is not None
        smaller, _ = reduced(clause, record, problem, scope.answers, seconds=2.0)
        assert isinstance(broken(clause, record, smaller), Violation)
        sizes = [sum(x.size for x in arrays(p).values()) for p in (problem, smaller)]
        assert sizes[1] <= sizes[0]
        named = known.looks_like((clause,), record, smaller)
        assert any(line.startswith(mistake.name) for line in named) or len(named) == 3
        break


@pytest.mark.slow
def test_a_layer_that_takes_no_masks_is_asked_for_none() -> None:
    left = probed(layer(layers.MultiHead, backend="numpy")).by_dtype["float32"].answers
    assert {Capability.MASK, Capability.PADDING} <= left
    record = layer(layers.Maskless, backend="numpy")
    assert not {Capability.MASK, Capability.PADDING, Capability.CAUSAL} & record.answers
    certificate = certify(layers.Maskless, dtypes=("float32",), profile="quick")
    assert certificate.passed, str(certificate)
    outcomes = {v.clause: v.outcome for v in certificate.verdicts}
    assert (outcomes["L1"], outcomes["L24"]) == ("holds", "not offered")


@parametrize_with_clauses(layers.MultiHead, profile="quick", dtypes=("float32",), clauses="L1,L9")
def test_clauses_about_layers_become_tests(run: Run) -> None:
    run()


def test_a_mistake_fails_as_a_test_and_says_why() -> None:
    build = MISTAKES["splits_without_transposing"].target
    (found,) = runs(build, profile="quick", dtypes=("float32",), clauses="L1")
    with pytest.raises(AssertionError, match="splits_without_transposing"):
        found()


def test_a_class_is_no_attention_function() -> None:
    with pytest.raises(Unsuitable, match="a record about layer"):
        certify(layer(layers.MultiHead, backend="numpy"), kind="attention")
