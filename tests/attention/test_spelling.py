"""A target is called in the words of the library that is named, and its conventions hold."""

from typing import Any

import numpy as np
import pytest

from implementations import dense
from spec import certify
from spec.attention.conventions import CONVENTIONS
from spec.attention.deployed import LIBRARIES
from spec.attention.options import WINDOW
from spec.attention.plug import implementation
from spec.attention.plug.spelling import SPELLINGS
from spec.attention.plug.trials import square
from spec.backends import Unsuitable
from spec.notation import Array
from spec.subject import Refused
from tests.night import deep
from tests.shell import FEW, run

QUICK: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "backend": "numpy"}


def told(window: tuple[int, int] | None, softcap: float | None, query: Array, key: Array) -> Any:
    """The options of flash-attn 2 in ours: -1 is no bound, 0 no cap, corners are on the right."""
    left, right = window or (-1, -1)
    if left is None or right is None or softcap is None:
        raise TypeError("no number")
    behind = key.shape[2] - query.shape[2]
    return {
        "window_size": (None if left < 0 else left, None if right < 0 else right),
        "softcap": softcap or None,
        "query_positions": np.tile(np.arange(query.shape[2]) + behind, (len(query), 1)),
    }


def flash(
    query: Array,
    key: Array,
    value: Array,
    causal: bool = False,
    window_size: tuple[int, int] | None = None,
    softcap: float | None = 0.0,
) -> Array:
    """Attention as flash-attn 2 has it, whose defaults say nothing of that."""
    options = told(window_size, softcap, query, key)
    return dense.attend(query, key, value, is_causal=causal, **options)


@pytest.mark.parametrize("clauses", [("A1", "A2", "A7", "C", "W", "U"), deep(None)])
def test_a_spelling_says_what_no_name_and_no_default_tells(clauses: Any) -> None:
    plain = certify(flash, **QUICK, fail_fast=True)
    assert not plain.passed
    spelled = certify(flash, **QUICK, clauses=clauses, api="flash-attn-2")
    assert spelled.passed, str(spelled)
    assert (
        spelled.conventions["causal"] == spelled.conventions["window-alignment"] == "bottom-right"
    )
    assert {"W5", "C1", "U1"} <= {v.clause for v in spelled.verdicts if v.outcome == "holds"}
    assert "--api flash-attn-2" in str(spelled)


def needs_a_window(
    query: Array, key: Array, value: Array, window_size: tuple[int, int], causal: bool = False
) -> Array:
    """The same, and says no window by -1 as well."""
    return flash(query, key, value, causal, window_size)


@pytest.mark.parametrize("clauses", [("A1", "C", "W"), deep(None)])
def test_what_is_required_is_said_in_its_words_where_nothing_is_asked(clauses: Any) -> None:
    assert certify(needs_a_window, **QUICK, clauses=clauses, api="flash-attn-2").passed


def test_a_convention_that_is_declared_goes_before_that_of_a_library() -> None:
    found = certify(
        flash,
        **QUICK,
        api="flash-attn-2",
        clauses="C1,W5",
        conventions={"causal": "top-left"},
        fail_fast=True,
    )
    assert found.conventions["causal"] == "top-left"
    assert not found.passed


@pytest.mark.parametrize(
    ("library", "name", "window", "want"),
    [
        ("flash-attn-2", "window_size", (2, None), (2, -1)),
        ("flash-attn-4", "window_size", (2, None), (2, None)),
        ("jax.nn", "local_window_size", (2, None), (2, 8)),
        ("vLLM", "sliding_window", (2, 0), 3),
        ("onnxruntime", "local_window_size", (2, 0), 3),
        ("cuDNN", "window_size", (2, None), (3, None)),
    ],
)
def test_a_window_is_written_as_the_library_writes_it(
    library: str, name: str, window: Any, want: Any
) -> None:
    problem = square("float64").but(window=window)
    assert SPELLINGS[library].handed(WINDOW, problem, name, None) == want


def test_what_a_library_cannot_say_is_refused() -> None:
    problem = square("float64").but(window=(2, 1))
    with pytest.raises(Refused, match="a window with a left bound and nothing ahead"):
        SPELLINGS["vLLM"].handed(WINDOW, problem, "sliding_window", None)


def test_every_library_of_the_page_is_a_spelling_of_conventions_that_there_are() -> None:
    assert len(SPELLINGS) == len(LIBRARIES)
    for spelling in SPELLINGS.values():
        for name, choice in spelling.conventions.items():
            assert choice in CONVENTIONS[name]
    flash = SPELLINGS["flash-attn-2"].conventions
    assert flash["causal"] == "bottom-right"
    assert flash["fully-masked-lse"] == "+inf"
    assert "causal" not in SPELLINGS["cuDNN"].conventions  # has either
    assert (
        "fully-masked-lse" not in SPELLINGS["jax.nn"].conventions
    )  # a number that is no choice here


@pytest.mark.slow
def test_a_spelling_that_there_is_not_is_one_line() -> None:
    done = run("certify", "implementations.dense:attend", *FEW, "--api", "flush-attn")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "unknown API dialect 'flush-attn': choose from flash-attn-2, flash-attn-3" in line
    done = run("certify", "implementations.multihead:MultiHead", *FEW, "--api", "vLLM")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "--api vLLM is for an attention function, not a layer" in line
    with pytest.raises(Unsuitable, match="unknown API dialect"):
        certify(flash, **QUICK, api="flash")


def test_a_record_has_the_conventions_of_its_spelling() -> None:
    record = implementation(flash, backend="numpy", spelling="flash-attn-2")
    assert record.chosen["causal"] == "bottom-right"
    assert implementation(flash, backend="numpy").chosen["causal"] == "top-left"


def test_a_backward_pass_is_no_target_but_an_attribute() -> None:
    def attend_backward(query: Any, key: Any, value: Any, dout: Any) -> Any:
        return query * dout, key, value

    with pytest.raises(Unsuitable, match=r"'dout', which a backward pass has: assign it to the "):
        certify(attend_backward, profile="quick")
