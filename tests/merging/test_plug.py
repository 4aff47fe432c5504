"""What is no merge is told in a line; names, places and orders of axes are found."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from implementations.merging import merge
from spec import CLAUSES, certify
from spec.backends import Unsuitable
from spec.merging.plug import core, merging, told
from spec.merging.plug.conventions import under
from spec.merging.plug.layouts import LAYOUTS
from tests.judging import QUICK, found


def too_few(o_1: Any, lse_1: Any, o_2: Any) -> Any:
    return o_1, lse_1, o_2


def one_more(o_1: Any, lse_1: Any, o_2: Any, lse_2: Any, scale: float) -> Any:
    return scale * merge(o_1, lse_1, o_2, lse_2)[0]


def alone(o_1: Any, lse_1: Any, o_2: Any, lse_2: Any) -> Any:
    return merge(o_1, lse_1, o_2, lse_2)[0]


def turned(o_1: Any, lse_1: Any, o_2: Any, lse_2: Any) -> Any:
    o, lse = merge(o_1, lse_1, o_2, lse_2)
    return o, lse.swapaxes(1, 2)


def shortened(o_1: Any, lse_1: Any, o_2: Any, lse_2: Any) -> Any:
    o, lse = merge(o_1, lse_1, o_2, lse_2)
    return o, lse.astype(o_1.dtype)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (too_few, "too few positional parameters, want o_1, lse_1, o_2, lse_2: got 3"),
        (one_more, "requires a parameter 'scale'"),
        (alone, "merge returned of type numpy.ndarray, want the output and its log-sum-exp"),
        (turned, r"the log-sum-exp has the wrong shape: got \(2, 4, 3\), want \(2, 3, 4\)"),
    ],
)
def test_what_is_no_merge_is_told_so_in_a_line(target: Callable[..., Any], words: str) -> None:
    with pytest.raises(Unsuitable, match=words) as caught:
        merging(target, backend="numpy")
    assert "\n" not in str(caught.value)


def test_a_log_sum_exp_of_16_bits_is_no_answer() -> None:
    with pytest.raises(Unsuitable, match="wrong dtype: got float16, want float32"):
        merging(shortened, backend="numpy", dtypes=("float16",))


def test_a_merge_is_told_by_the_names_of_its_parameters() -> None:
    def attend(query: Any, key: Any, value: Any) -> Any: ...
    def merge_state(v_a: Any, s_a: Any, v_b: Any, s_b: Any) -> Any: ...
    def other(a: Any, b: Any, c: Any, d: Any) -> Any: ...

    assert [told(x) for x in (merge, merge_state, attend, other, dict)] == [
        True,
        True,
        *[False] * 3,
    ]
    assert merging(lambda a, b, c, d: merge(a, b, c, d), backend="numpy").name == "<lambda>"


@pytest.mark.parametrize("layout", LAYOUTS)
def test_axes_may_come_in_another_order(layout: str) -> None:
    """A layout is undone by itself, and a merge that has it is judged as one of ours."""
    problem, laid = core("float64"), LAYOUTS[layout]
    for x in (problem.o_1, problem.lse_1):
        assert np.array_equal(laid.back(laid.forth(x), x), x)

    def theirs(*arrays: Any) -> Any:
        like = problem.o_1, problem.lse_1
        ours = [laid.back(x, like[i % 2]) for i, x in enumerate(arrays)]
        return tuple(laid.forth(x) for x in merge(*ours))

    record = merging(lambda a, b, c, d: theirs(a, b, c, d), backend="numpy", layout=layout)
    o, _ = record.forward(problem)
    assert np.array_equal(o, merging(merge).forward(problem).o)
    with pytest.raises(Unsuitable, match="unknown layout 'dlhb'"):
        merging(merge, layout="dlhb")


def infinite(o_1: Any, lse_1: Any, o_2: Any, lse_2: Any) -> Any:
    """+inf for nothing, in and out."""
    one, two = (np.where(np.isposinf(x), -np.inf, x).astype(x.dtype) for x in (lse_1, lse_2))
    o, lse = merge(o_1, one, o_2, two)
    return o, np.where(np.isneginf(lse), np.inf, lse).astype(lse.dtype)


def test_infinity_for_nothing_is_recognised_and_judged_as_such_when_declared() -> None:
    options: dict[str, Any] = {"profile": "quick", "dtypes": ("float32",), "backend": "numpy"}
    undeclared = certify(infinite, **options)
    assert undeclared.exit_code == 1
    assert any("fully-masked-lse=+inf" in line for line in undeclared.advice), str(undeclared)
    assert certify(infinite, **options, conventions={"fully-masked-lse": "+inf"}).passed


def test_a_convention_that_is_declared_is_held_to() -> None:
    """Natural logarithms are no bits, and a number is no infinity."""
    for name, choice, clause in (("lse-base", "2", "Q2"), ("fully-masked-lse", "+inf", "Q18")):
        wrong = under(merging(merge), {name: choice})
        assert found(CLAUSES[clause], wrong, "float32", QUICK).violation, name


def test_gradients_that_are_not_four_are_a_violation() -> None:
    def two(o_1: Any, lse_1: Any, o_2: Any, lse_2: Any) -> Any:
        return merge(o_1, lse_1, o_2, lse_2)

    vars(two).update(backward=lambda do, dlse, *_: (do, dlse))
    finding = found(CLAUSES["Q3"], merging(two, backend="numpy"), "float64", QUICK)
    assert "a tuple of 2, want do_1, dlse_1, do_2, dlse_2" in str(finding.violation)


def test_a_merge_without_gradients_is_not_asked_for_them() -> None:
    record = merging(infinite, backend="numpy")
    assert [CLAUSES[number].binds(record) for number in ("Q1", "Q3")] == [True, False]


@pytest.mark.torch
def test_a_log_sum_exp_that_is_detached_has_no_gradient_and_that_is_seen() -> None:
    from implementations import merging_torch

    def detached(o_1: Any, lse_1: Any, o_2: Any, lse_2: Any) -> Any:
        o, lse = merging_torch.merge(o_1, lse_1, o_2, lse_2)
        return o, lse.detach()

    record = merging(detached, backend="torch")
    assert found(CLAUSES["Q3"], record, "float32", QUICK).violation is None
    assert found(CLAUSES["Q4"], record, "float32", QUICK).violation
