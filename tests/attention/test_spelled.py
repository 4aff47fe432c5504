"""Functions are plugged in as they are: by the names, and in the units, of deployed ones."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spec import assert_attention, certify
from spec.attention import definition
from spec.attention.contents import UNBOUNDED
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.plug.trials import core, square
from spec.subject import Refused
from tests.attention.test_scripts import check, found
from tests.night import deep
from tests.targets import spelled

FEW: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",)}
MODULE = "tests.targets.spelled"
NUMBERS = np.arange(16.0).reshape(4, 4) / 8


OTHER_LSE = [
    (spelled.lse_of_another_scale, "the log-sum-exp is wrong"),
    (spelled.returns_no_lse, "want the output and the log-sum-exp"),
    (spelled.residual_of_heads, "the log-sum-exp"),
]


@pytest.mark.quick("adds*", "right_with_residual*", "right_with_lse*", "sliding*", "flash*")
@pytest.mark.parametrize("whole", [False, deep(True)])
@pytest.mark.parametrize(
    ("function", "conventions", "offered"),
    [
        (spelled.flash_attn_func, {"causal": "bottom-right"}, {"A7", "C1", "W5", "U1", "Y2"}),
        (spelled.dot_product_attention, {}, {"A7", "C1", "W1", "M1", "M6", "M22"}),
        (spelled.sliding, {}, {"W5", "C1"}),
        (spelled.adds_truth, {}, {"M22", "M23"}),
        (spelled.right_with_lse, {}, {"A7", "B8"}),
        (spelled.right_with_residual, {}, {"A7"}),
    ],
)
def test_what_says_its_options_as_others_do_is_certified(
    function: Any, conventions: dict[str, str], offered: set[str], whole: bool
) -> None:
    clauses = None if whole else ("A1", "A2", *sorted({number[0] for number in offered}))
    certificate = certify(function, **FEW, clauses=clauses, conventions=conventions)
    assert certificate.passed, str(certificate)
    assert {v.clause for v in certificate.verdicts if v.outcome == "holds"} >= offered


@pytest.mark.quick("residual*")
@pytest.mark.parametrize(
    ("function", "cause", "clauses"),
    [
        deep(spelled.without_itself, "where a key before the window, the output is wrong", None),
        *((*case, "A1,A7") for case in OTHER_LSE),
        *(deep(*case, None) for case in OTHER_LSE),
    ],
)
def test_what_means_something_else_by_a_name_is_refused(
    function: Any, cause: str, clauses: Any
) -> None:
    certificate = certify(function, **FEW, clauses=clauses)
    assert certificate.exit_code == 1
    assert cause in str(certificate)


@pytest.mark.slow
def test_one_convention_of_many_options_is_one_cause_that_names_it() -> None:
    certificate = certify(spelled.flash_attn_func, **FEW)
    (cause,) = certificate.causes
    assert "causal=bottom-right" in cause.lens
    assert cause.features == ("N != M",)
    assert len(cause.clauses) > 20
    assert certificate.region.passed


def test_numbers_and_truth_values_have_a_name_each() -> None:
    signature = implementation(spelled.dot_product_attention).forward.__self__.signature  # type: ignore[attr-defined]
    truth, numbers = square("float32", mask=NUMBERS > 1), square("float32", mask=NUMBERS)
    assert signature.keywords(truth, {"mask": "x"}) == {"mask": "x"}
    assert signature.keywords(numbers, {"mask": "x"}) == {"bias": "x"}


def test_who_adds_truth_values_is_not_asked_for_them() -> None:
    record = implementation(spelled.adds_truth, layout="blhd")
    assert Capability.BIAS in record.answers
    assert Capability.MASK not in record.answers
    with pytest.raises(Refused, match="truth values"):
        record.forward(square("float32", mask=NUMBERS > 1))


@pytest.mark.parametrize("mask", [None, NUMBERS > 1, NUMBERS])
def test_names_that_are_required_are_told_what_there_is_and_nothing_else(mask: Any) -> None:
    def attend(query, key, value, mask, bias, sliding_window):
        seen.append((mask is not None, bias is not None, sliding_window))
        return spelled.dot_product_attention(query, key, value, bias, mask)

    seen: list[Any] = []
    implementation(attend, layout="blhd").forward(square("float32", mask=mask))
    truth = mask is not None and mask.dtype == bool
    assert seen == [(truth, mask is not None and not truth, None)]


@pytest.mark.parametrize(
    ("name", "window", "causal", "said"),
    [
        ("local_window_size", (3, None), False, (3, 9)),
        ("local_window_size", (None, 0), False, (9, 0)),
        ("sliding_window", (2, 0), False, 3),
        ("sliding_window", (2, None), True, 3),
        ("window_size", (2, None), True, (2, None)),
    ],
)
def test_a_window_is_said_in_the_units_of_its_name(
    name: str, window: tuple[int | None, int | None], causal: bool, said: Any
) -> None:
    function = eval(f"lambda query, key, value, is_causal=False, {name}=None: ({name},)")
    signature = implementation(function, backend="numpy").forward.__self__.signature  # type: ignore[attr-defined]
    problem = core("float32").but(window=window, causal=causal)
    assert signature.keywords(problem, {})[name] == said
    assert name not in signature.keywords(problem.but(window=UNBOUNDED), {})


@pytest.mark.parametrize("window", [(None, 0), (2, 1), (2, None)])
def test_a_number_of_keys_is_refused_where_it_does_not_say_what_is_asked(window: Any) -> None:
    record = implementation(spelled.sliding, layout="blhd")
    with pytest.raises(Refused, match="describes only a window with a left bound"):
        record.forward(core("float32").but(window=window))


@pytest.mark.parametrize(
    ("name", "right", "call"),
    [
        ("lse_of_another_scale", "right_with_lse", r"softmax_scale=\S+, return_lse=True\)\[1\]"),
        ("residual_of_heads", "right_with_residual", r"return_residual=True\)\[1\]"),
    ],
)
def test_a_script_asks_for_the_log_sum_exp(
    tmp_path: Path, name: str, right: str, call: str
) -> None:
    text = found("A7", f"{MODULE}:{name}", "float32")
    assert re.search(call, text), text
    check(text, tmp_path, f"from {MODULE} import {right}")


def test_assert_attention_takes_numbers_to_add_by_their_name() -> None:
    problem = square("float64", mask=NUMBERS)
    arrays = (definition.attention(problem), problem.q, problem.k, problem.v)
    assert_attention(*arrays, bias=NUMBERS)
    with pytest.raises(AssertionError, match="want"):
        assert_attention(*arrays)
    with pytest.raises(TypeError, match="no option is called 'sliding_window'"):
        assert_attention(*arrays, sliding_window=3)
    with pytest.raises(TypeError, match="did you mean 'attn_mask'"):
        assert_attention(*arrays, atn_mask=NUMBERS)


@pytest.mark.parametrize("name", ["attn_mask", "mask", "attention_mask"])
def test_assert_attention_takes_a_mask_by_the_names_that_functions_have_for_it(name: str) -> None:
    problem = square("float64", mask=NUMBERS)
    arrays = (definition.attention(problem), problem.q, problem.k, problem.v)
    assert_attention(*arrays, **{name: NUMBERS})
    with pytest.raises(AssertionError, match="want"):
        assert_attention(*arrays, **{name: 2 * NUMBERS})


TRUTH = NUMBERS > 1


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"bias": NUMBERS, "attn_mask": NUMBERS}, TypeError, "two names of one option"),
        ({"scale": 1.0, "softmax_scale": 2.0}, TypeError, "'scale' and 'softmax_scale' are"),
        ({"bias": TRUTH}, ValueError, "numbers, not truth values"),
        ({"mask": TRUTH[:3]}, ValueError, r"broadcasts to \(2, 3, 4, 4\), and \(3, 4\) does not"),
        ({"mask": TRUTH[None, None, None]}, ValueError, "broadcasts to"),
        ({"scale": np.nan}, ValueError, "a scale is a finite number"),
        ({"k": np.zeros((2, 3, 4, 5))}, ValueError, r"are not \(B, H, N, D\)"),
        ({"k": np.zeros((2, 2, 4, 2)), "v": np.zeros((2, 2, 4, 2))}, ValueError, "H a multiple"),
        ({"q": np.zeros((3, 4, 2))}, ValueError, r"q is \(batch, heads, length, width\)"),
    ],
)
def test_assert_attention_says_in_a_line_what_does_not_go_together(
    options: dict[str, Any], error: type[Exception], words: str
) -> None:
    problem = square("float64")
    arrays = {"q": problem.q, "k": problem.k, "v": problem.v, **options}
    with pytest.raises(error, match=words) as found:
        assert_attention(definition.attention(problem), **arrays)
    assert "\n" not in str(found.value)
