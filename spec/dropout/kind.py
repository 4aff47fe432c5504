"""Attention with dropout, as the engine asks for it."""

from collections.abc import Iterator, Mapping
from itertools import product

from spec.abilities import Causes, Conventions, Functions, Reports
from spec.attention.conventions import declaring, granted
from spec.dropout import mistakes, plug
from spec.dropout.domain import RATES
from spec.dropout.features import MEANINGS, VOCABULARY
from spec.dropout.notation import Problem
from spec.dropout.truth import truth
from spec.entries import bits_of_tf32, eighths
from spec.kind import Kind
from spec.simplify import with_other_options


def core(dtype: str) -> Problem:
    """Four queries and five keys, and a rate of a quarter."""
    q, k, v, dout = (eighths(2, 3, n, 2, seed=i) for i, n in enumerate((4, 5, 5, 4)))
    return Problem(q, k, v, dout, p=0.25, dtype=dtype)


def twists(problem: Problem) -> Iterator[Problem]:
    """An option changed; and every rate, in training and in evaluation."""
    yield from with_other_options(problem)
    for p, training in product((0.0, 1.0, *RATES), (True, False)):
        yield problem.but(p=p, training=training)


def telling(_: str) -> Mapping[str, tuple[Problem, ...]]:
    """Problems with values that TF32 makes others, and that fewer bits do; in float32."""
    plain = core("float32")
    return {"products": tuple(plain.but(v=v) for v in bits_of_tf32(plain.v))}


KIND = Kind(
    about="dropout",
    noun="attention with dropout",
    sections={"D": "dropout"},
    problem=Problem,
    definition="D1",
    core=core,
    truth=truth,
    mistakes=mistakes.MISTAKES,
    load=plug.dropout,
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
    functions=Functions(
        fitted=granted,
        compares={"forward": ("D1", "D2"), "backward": ("D3", "D4", "D5"), "weights": ("D6",)},
        parts={"D3": "dv", "D4": "dq", "D5": "dk"},
    ),
    conventions=Conventions(under=declaring, telling=telling, told_by={"products": "D2"}),
    causes=Causes(twists=twists),
    reports=Reports(excluded=lambda domain: ("a mask", "causality") if domain.crowd else ()),
)
