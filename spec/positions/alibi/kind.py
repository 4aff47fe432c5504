"""Linear biases, as the engine asks for them."""

from collections.abc import Mapping

from spec.entries import eighths
from spec.kind import Kind
from spec.positions.alibi.mistakes import MISTAKES
from spec.positions.alibi.notation import LinearBias, Problem
from spec.positions.alibi.plug import linear_bias
from spec.positions.truth import linear_bias as truth


def charged(record: LinearBias, declared: Mapping[str, str]) -> LinearBias:
    """The record, held to what is declared of keys that lie ahead."""
    return record.but(conventions={**record.conventions, **declared})


KIND = Kind(
    about="alibi",
    noun="a linear bias",
    problem=Problem,
    definition="R34",
    first="bias",
    core=lambda dtype: Problem(eighths(4, 3, 3), dtype=dtype),
    truth=truth,
    mistakes=MISTAKES,
    load=linear_bias,
    under=charged,
)
