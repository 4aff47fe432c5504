"""Layers: three inputs and eight parameters in, one output out, and masks of three kinds."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

import numpy as np

from spec.comparison import Violation
from spec.kind import Kind
from spec.layer.known import KNOWN
from spec.layer.mistakes import MISTAKES
from spec.layer.notation import LayerProblem
from spec.layer.plug import layer, program
from spec.layer.plug.conventions import recognised, under
from spec.layer.plug.described import read
from spec.layer.plug.trials import apart, core, fitted, kinds, trials
from spec.layer.record import Layer
from spec.layer.rounding import Budgets
from spec.layer.script import calls
from spec.layer.simplify import MOVES
from spec.layer.truth import truth
from spec.subject import Refused


def notes(by_dtype: Mapping[str, Layer]) -> list[str]:
    """That float64 has the accuracy of float32, where it has."""
    if "float64" not in by_dtype:
        return []
    problem = fitted(by_dtype["float64"], core("float64"))
    try:
        y = by_dtype["float64"].forward(problem)
    except (Refused, Violation):
        return []
    known, single = Budgets(problem), Budgets(problem.but(dtype="float32"))
    error = np.abs(y - known.y)
    exact = (error <= known.of_output).all()
    return ["computes float64 in float32"] * bool((error <= single.of_output).all() and not exact)


KIND = Kind(
    about="layer",
    noun="a layer",
    problem=LayerProblem,
    definition="L1",
    core=core,
    beyond=apart,
    fitted=fitted,
    truth=truth,
    mistakes=MISTAKES,
    load=layer,
    told=inspect.isclass,
    program=program,
    described=read,
    known=KNOWN,
    kinds=kinds,
    trials=trials,
    ask={"step": lambda record, problem: record.step(problem, 0.5)},
    moves=MOVES,
    under=under,
    recognised=recognised,
    notes=notes,
    calls=calls,
)
