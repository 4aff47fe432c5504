"""Budgets by name, and how much of each a computation takes up; above one, it is exceeded."""

from collections.abc import Iterator, Mapping

import numpy as np

from spec.attention import rounding
from spec.attention.notation import Problem
from spec.notation import Array
from tests.attention.machine import Machine


def budgets_of(problem: Problem) -> dict[str, Array]:
    """Every budget of a problem, by the name of what it is for."""
    gradients = rounding.of_gradients(problem)
    assert gradients.bias is not None
    return {
        "o": rounding.of_output(problem),
        "weights": rounding.of_weights(problem),
        "row sum": rounding.of_row_sum(problem),
        "lse": rounding.of_lse(problem),
        "dq": gradients.q,
        "dk": gradients.k,
        "dv": gradients.v,
        "dbias": gradients.bias,
    }


def ratio(got: Array, want: Array, budget: Array) -> float:
    """The largest error in units of its budget; infinite where a budget of zero is exceeded."""
    same = got == want
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(same, 0.0, np.abs(got - want))
        over = np.where(same | np.isposinf(budget), 0.0, error / budget)
    over = np.where(np.isnan(over), np.inf, over)
    return float(over.max(initial=0.0))


def of_forward(problem: Problem, got: Mapping[str, Array]) -> Iterator[tuple[str, float]]:
    exact = rounding.reference(problem)
    yield "o", ratio(got["o"], exact.o, rounding.of_output(problem))
    low, high = rounding.admissible(problem)
    inside = (low <= got["o"]) & (got["o"] <= high)
    yield "interval", 0.0 if inside.all() else np.inf
    if "weights" in got:
        yield "weights", ratio(got["weights"], exact.weights, rounding.of_weights(problem))
        sums = got["weights"].sum(-1)
        yield "row sum", ratio(sums, np.where(problem.idle, 0.0, 1.0), rounding.of_row_sum(problem))
    if "lse" in got:
        yield (
            "lse",
            ratio(
                got["lse"],
                exact.lse,
                rounding.of_lse(problem, "float32" if problem.dtype != "float64" else None),
            ),
        )


def of_backward(problem: Problem, got: Mapping[str, Array]) -> Iterator[tuple[str, float]]:
    exact, budget = rounding.reference(problem).gradients, rounding.of_gradients(problem)
    for name in ("q", "k", "v", "bias"):
        yield f"d{name}", ratio(got[name], getattr(exact, name), getattr(budget, name))


def worst(problem: Problem, machine: Machine) -> dict[str, float]:
    with np.errstate(under="ignore"):
        got, grads = machine.forward(), machine.backward()
    return dict(of_forward(problem, got)) | dict(of_backward(problem, grads))
