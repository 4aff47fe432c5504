"""How a target is to be asked is found out: its layout, its library, the sizes that it answers."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from spec import CLAUSES, certify
from spec.attention import definition
from spec.attention.plug import implementation
from spec.attention.plug.layouts import LAYOUTS
from spec.attention.plug.trials import core
from spec.backends import Unsuitable
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import scope_for
from spec.certification.target.fitting import is_there
from tests import targets
from tests.certification import here
from tests.shell import run
from tests.targets import shapes

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "clauses": "A1,A2,C2"}
NO_OTHER = "nothing else is tested"
WRONG = (
    "doubled_length_first",
    "doubled_length_before_batch",
    "halved_three_axes",
    "doubled_one_sequence",
    "doubled_two_axes",
)


def in_layout(name: str) -> str:
    return f"takes arrays {LAYOUTS[name].words}: judged with --layout {name}"


def only(words: str) -> str:
    return f"supports only {words}: {NO_OTHER}"


@pytest.mark.quick(
    "square*",
    "one_query*",
    "length*",
    "one_head*",
    "two*",
    "one_sequence*",
    "three*",
    "in*",
    "doubled_one*",
    "halved*",
)
@pytest.mark.parametrize(
    ("function", "note", "right"),
    [
        (shapes.length_first, in_layout("blhd"), True),
        (shapes.square_length_first, in_layout("blhd"), True),
        (shapes.doubled_length_first, in_layout("blhd"), False),
        (shapes.length_before_batch, in_layout("lbhd"), True),
        (shapes.three_axes, in_layout("hld"), True),
        (shapes.halved_three_axes, in_layout("hld"), False),
        (shapes.one_sequence, in_layout("lhd"), True),
        (shapes.doubled_one_sequence, in_layout("lhd"), False),
        (shapes.two_axes, in_layout("ld"), True),
        (shapes.in_tiles, only("lengths that are multiples of 32"), True),
        (
            shapes.wrong_in_wide_tiles,
            only("lengths that are multiples of 128 and widths that are multiples of 64"),
            False,
        ),
        (shapes.one_query, only("one query"), True),
        (shapes.one_head, only("one head of one sequence"), True),
    ],
)
def test_what_is_found_is_judged_and_said(function: Any, note: str, right: bool) -> None:
    certificate = certify(function, backend="numpy", fail_fast=True, **FEW)
    assert certificate.notes == (note,)
    assert certificate.exit_code == (not right), str(certificate)


def test_nothing_is_guessed_of_who_answers_rightly_or_never() -> None:
    assert certify(targets.plain, **FEW).notes == ()
    with pytest.raises(Unsuitable, match="refuses_everything could not be called: RuntimeError"):
        certify(targets.refuses_everything, **FEW)


def test_a_layout_that_is_asked_for_is_not_exchanged() -> None:
    done = here.run("certify", "tests.targets.shapes:three_axes", "--layout", "blhd")
    assert done.returncode == 2
    said = f"--layout blhd: three_axes takes arrays {LAYOUTS['hld'].words}: use --layout hld"
    assert done.stderr == f"error: {said}\n"


@pytest.mark.quick("doubled_length*", "halved*")
@pytest.mark.parametrize("name", WRONG)
def test_scripts_speak_the_layout_of_the_function(name: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {**FEW, "clauses": "A1", "backend": "numpy", "fail_fast": True}
    (failure,) = certify(f"tests.targets.shapes:{name}", **options).failures
    assert failure.counterexample is not None
    text, path = failure.counterexample.script, tmp_path / "wrong.py"
    assert "from spec" not in text
    path.write_text(text)
    again = run(program=(str(path),))
    assert (again.returncode, again.stderr) == (1, "")


@pytest.mark.parametrize("layout", [x for x, y in LAYOUTS.items() if not y.packs and not y.pages])
def test_whatever_is_offered_beside_is_read_in_that_layout(layout: str) -> None:
    form, seen = LAYOUTS[layout], []
    problem = core("float64", **dict.fromkeys("BH"[: form.single], 1))

    def beside(query: Any, key: Any, value: Any) -> Any:
        seen.append([x.shape for x in (query, key, value)])
        return form.put(a, "") if layout == "hld" else a.reshape(form.shape(a.shape, like=""))

    a = definition.weights(problem)
    record = implementation(targets.plain, layout=layout, weights=beside)
    assert (record.weights(problem) == a).all()
    assert seen == [[form.shape(x.shape) for x in (problem.q, problem.k, problem.v)]]


@pytest.mark.torch
def test_another_library_is_tried_where_there_is_one() -> None:
    certificate = certify(shapes.of_any_library, **FEW)
    assert certificate.notes == ("takes arrays of torch: judged with --backend torch",)
    assert certificate.passed


@pytest.mark.slow
def test_lengths_and_widths_may_be_declared() -> None:
    target, words = "tests.targets.shapes:in_tiles", ("--profile", "quick", "--dtype", "float32")
    done = run("certify", target, *words, "--lengths", "64", "--clause", "A1,C2")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"note          lengths are multiples of 64, as declared: {NO_OTHER}" in done.stdout
    assert f"certify {target} --lengths 64 --dtype float32" in done.stdout
    assert "refused" not in done.stdout


@pytest.mark.parametrize(
    ("target", "words", "line"),
    [
        ("layers:MultiHead", ("--lengths", "8"), "--lengths 8 is for an attention function, not a"),
        ("shapes:in_tiles", ("--widths", "0"), "--widths 0: must be at least 1"),
        ("shapes:in_tiles", ("--lengths", "x"), "argument --lengths: invalid int value: 'x'"),
    ],
)
def test_what_cannot_be_declared_is_told(target: str, words: tuple[str, ...], line: str) -> None:
    done = run("certify", f"tests.targets.{target}", *words)
    assert done.returncode == 2
    assert line in done.stderr


@pytest.mark.parametrize("number", ["A1", "X7", "P1", "C3"])
def test_only_multiples_are_drawn_for_who_takes_no_others(number: str) -> None:
    sizes = {"lengths": 16, "widths": 8}
    record = implementation(targets.right, backend="numpy").but(multiples=sizes)
    scope = scope_for(CLAUSES[number], record, "float32", "strict", "standard")
    drawn = [*series(CLAUSES[number], scope, 60, 0)]
    assert not {p.N % 16 or p.M % 16 or p.D % 8 or p.E % 8 for p in drawn} - {0}
    assert len({p.M for p in drawn}) > 3
    assert not [p for p in drawn if not record.kinds_of(p) <= record.answers]
    assert record.kinds_of(core("float32")) == {
        "takes lengths that are no multiples of 16",
        "takes widths that are no multiples of 8",
    }


def test_a_kind_that_is_answered_in_tiles_alone_is_asked_there() -> None:
    note = "takes {} only at lengths that are multiples of 8 [float32]"
    certificate = certify(shapes.masks_in_tiles, **FEW | {"clauses": "A1,M3,M5,M20,C2"})
    assert certificate.notes == (note.format("a boolean mask"), note.format("an additive mask"))
    assert {v.outcome for v in certificate.verdicts} == {"holds"}
    assert sum(v.refused for v in certificate.verdicts) == 0


@pytest.mark.slow
def test_what_is_sometimes_refused_is_a_line_for_each_reason_whatever_sizes_it_names() -> None:
    certificate = certify(shapes.short, profile="quick", dtypes=("float32",), clauses="A1,X,V")
    said = {v.message for v in certificate.verdicts if v.refused}
    assert len(said) > 2
    (line,) = (x for x in str(certificate).splitlines() if x.startswith("sometimes raises"))
    held = [v for v in certificate.verdicts if v.outcome == "holds"]  # others are violated by it
    refused = sum(v.refused for v in held)
    assert line.startswith(f"sometimes raises: {refused} of ")
    assert "ValueError: at most 16 keys: got (" in line
    assert line.endswith(" queries (or with other numbers)")


def test_a_folder_that_is_called_like_a_library_is_not_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was taken for torch where nothing was answered, and the process died of that."""
    (tmp_path / "no_library").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    assert find_spec("no_library") is not None
    assert not is_there("no_library")
    assert is_there("numpy")
