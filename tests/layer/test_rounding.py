"""The budgets of a training step: a rounded product, a rounded difference, and the gradients'."""

from collections.abc import Iterator

import numpy as np
import pytest

from spec.domain import Scope
from spec.layer.domain import EVERY, LayerProblems
from spec.layer.record import KINDS
from spec.layer.rounding import Budgets
from tests.attention.draws import drawn


def budgets(dtype: str) -> Iterator[Budgets]:
    domain, scope = LayerProblems(hiding=EVERY), Scope(dtype, answers=KINDS)
    return (Budgets(problem) for problem in drawn(domain, scope, 4))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_step_of_no_length_is_off_by_the_storing_of_parameters_alone(dtype: str) -> None:
    for known in budgets(dtype):
        r, there = known.rules, known.problem.parameters.named()
        for name, budget in known.of_step(0.0).named().items():
            stored = (r.u + r.u_out) * np.abs(there[name]) + 2 * (r.w + r.w_out)
            assert (budget <= stored).all(), name


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_an_error_of_a_gradient_counts_as_often_as_the_rate_says(dtype: str) -> None:
    for known in budgets(dtype):
        of_gradients = known.of_gradients.parameters.named()
        slopes = known.gradients.parameters.named()
        usual = known.of_step(0.0).named()
        for rate in (2.0**-10, 1.0, 8.0):
            for name, budget in known.of_step(rate).named().items():
                off, size = rate * of_gradients[name], rate * np.abs(slopes[name])
                assert (budget >= off).all(), name
                assert (budget <= usual[name] + 1.125 * (off + size)).all(), name
