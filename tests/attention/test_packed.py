"""Functions that have texts packed: how they are recognised and asked, and who is wrong."""

from typing import Any

import numpy as np
import pytest

from spec import certify
from spec.attention import definition
from spec.attention.conventions import as_chosen
from spec.attention.mistakes import packed
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.plug.packing import CHOICES
from spec.attention.plug.packing import packed as packing_of
from spec.attention.plug.trials import square
from spec.backends import Unsuitable
from spec.certification.command_line import main
from spec.comparison import equal
from spec.mistake import catalogue
from spec.notation import Array
from tests.night import deep
from tests.shell import script_here

MISTAKES = catalogue(packed)
SEVEN = "got 7.0\nwant 0.0\nwithin 0.0\n"
RIGHT: Any = packed.program(packed.Steps())
FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",)}
NUMPY = ("--backend", "numpy")  # which spares the workers torch
TEXTS = {
    "query_segments": np.array([[0, 1, 1, -1], [2, 0, 2, 0]]),
    "key_segments": np.array([[1, 0, 0, 3, -1], [0, 0, 2, -1, 2]]),
}

# A sequence, a text of it, and where its queries and its keys lie.
IN_ORDER = ((0, 1, [1, 2], [0]), (1, 2, [0, 2], [2, 4]), (1, 0, [1, 3], [0, 1]))


def test_texts_lie_one_behind_the_other_and_padding_is_a_text_of_one_side() -> None:
    problem = square("float32", M=5).but(**TEXTS)
    found = packing_of(problem)
    # Of the first sequence padding, texts 0, 1 and 3; of the second padding, texts 0 and 2.
    assert np.asarray(found.told["cu_seqlens_q"]).tolist() == [0, 1, 1, 2, 4, 4, 4, 6, 8]
    assert np.asarray(found.told["cu_seqlens_k"]).tolist() == [0, 0, 1, 3, 4, 5, 6, 8, 10]
    assert found.tokens["q"].tolist() == [3, 0, 1, 2, 5, 7, 4, 6]
    assert found.tokens["k"].tolist() == [4, 1, 2, 0, 3, 8, 5, 6, 7, 9]
    assert (found.told["max_seqlen_q"], found.told["max_seqlen_k"]) == (2, 2)
    assert (found.back(found.put(problem.k, "k"), problem.k.shape, "k") == problem.k).all()
    lse = problem.q[..., 0]
    assert (found.back(found.put(problem.q, "q")[..., 0].T, lse.shape, "") == lse).all()


def test_what_it_does_not_take_it_is_not_asked() -> None:
    record = implementation(RIGHT)
    assert record.chosen.items() >= CHOICES.items()
    assert Capability.SEGMENTS in record.answers
    lacking = {Capability.MASK, Capability.BIAS, Capability.POSITIONED, Capability.SLOPES_EACH}
    assert not lacking & record.answers


@pytest.mark.parametrize("corner", ["top-left", "bottom-right"])
def test_places_in_texts_are_those_that_each_has_alone(corner: str) -> None:
    """And a corner is that of each, however long the others are."""
    chosen = as_chosen({"positions": "in-sequence", "causal": corner})
    problem = square("float64", M=5).but(causal=True, window=(1, None), **TEXTS, **chosen)
    for b, text, rows, keys in IN_ORDER:
        alone = problem.part("B", [b]).part("N", rows).part("M", keys)
        alone = alone.but(query_segments=None, key_segments=None)
        assert (problem.query_segments[b][rows] == text).all()  # type: ignore[index]
        found: Array = definition.attention(problem)[b][:, rows]
        equal(found, definition.attention(alone)[0], within=2.0**-50)


def test_starts_of_one_side_alone_are_no_packing() -> None:
    def attend(q: Array, k: Array, v: Array, cu_seqlens_q: Array) -> Array:
        return q + k + v + cu_seqlens_q

    with pytest.raises(Unsuitable, match="takes only one of cu_seqlens_q and cu_seqlens_k"):
        implementation(attend, backend="numpy")


@pytest.mark.slow
def test_packed_arrays_have_no_other_layout(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", "implementations.packed:attend", *NUMPY, "--layout", "lhd"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "attend takes arrays (tokens of all sequences, heads, width): use --layout thd" in line
    assert main(["certify", "implementations.dense:attend", *NUMPY, "--layout", "thd"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "use --layout bhld" in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "kept"), [(("A1",), ("A1", "A2", "A7", "C", "J")), deep(("A", "J"), None)]
)
def test_other_corners_are_declared_and_recognised(broken: Any, kept: Any) -> None:
    target = packed.hangs_texts_at_their_first_keys
    undeclared = certify(target, **FEW, clauses=broken)
    assert not undeclared.passed
    assert "--convention causal=top-left" in str(undeclared)
    assert "looks like:" not in str(undeclared), "a convention explains it"
    assert certify(target, **FEW, clauses=kept, conventions={"causal": "top-left"}).passed


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "kept"), [(("A1",), ("A1", "A2", "A7", "J")), deep(None, None)])
def test_rows_of_no_text_are_zero_or_left_as_they_were(broken: Any, kept: Any) -> None:
    target = packed.leaves_what_was_there_where_no_text_is
    undeclared = certify(target, **FEW, clauses=broken)
    (cause,) = undeclared.causes
    assert cause.features == ("packed padding tokens",)
    assert "rows of no text are not zero" in str(undeclared)
    assert "--convention padding-rows=untouched" in str(undeclared)
    assert cause.counterexample is not None
    assert printed(cause.counterexample.script) == SEVEN
    declared = certify(target, **FEW, clauses=kept, conventions={"padding-rows": "untouched"})
    assert declared.passed


@pytest.mark.torch
def test_gradients_in_rows_of_no_text_are_zero_and_a_script_shows_where_not() -> None:
    target = "tests.targets.faulty_torch:leaves_gradients_where_no_text_is"
    found = certify(target, **FEW, clauses=("A1", "A2"), fail_fast=True)
    (example,) = [v.counterexample for v in found.verdicts if v.counterexample is not None]
    assert printed(example.script) == SEVEN


def printed(script: str) -> str:
    """What a script prints that shows a failure, run in this process, which has torch."""
    done = script_here(script)
    assert done.returncode == 1
    return done.stdout
