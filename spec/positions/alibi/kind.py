"""Linear biases, as the engine asks for them."""

from spec.abilities import Conventions, Functions
from spec.entries import eighths
from spec.kind import Kind
from spec.positions import features, truth
from spec.positions.alibi import mistakes, plug
from spec.positions.alibi.notation import Problem

KIND = Kind(
    about="alibi",
    noun="a linear bias",
    sections={"R": "linear bias"},
    problem=Problem,
    definition="R34",
    core=lambda dtype: Problem(eighths(4, 3, 3), dtype=dtype),
    truth=truth.linear_bias,
    mistakes=mistakes.MISTAKES,
    load=plug.linear_bias,
    vocabulary=features.ALIBI,
    meanings=features.MEANINGS,
    functions=Functions(
        first="bias", compares={"bias": ("R34",), "slopes": ("R31",)}, telltale={"slopes": "bias"}
    ),
    conventions=Conventions(
        under=lambda record, declared: record.but(conventions={**record.conventions, **declared})
    ),
)
