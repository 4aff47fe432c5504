"""Merging, as the engine asks for it."""

from collections.abc import Mapping

import numpy as np

from spec.abilities import Conventions, Functions, Reports, Targets, Trials
from spec.kind import Kind
from spec.merging import mistakes, plug
from spec.merging.domain import excluded
from spec.merging.features import MEANINGS, VOCABULARY
from spec.merging.notation import Problem, State
from spec.merging.plug.conventions import under
from spec.merging.plug.layouts import LAYOUTS
from spec.merging.truth import truth


def telling(dtype: str) -> Mapping[str, tuple[Problem, ...]]:
    """For each convention, problems on each of which its choices differ, and no others'."""
    plain = plug.core(dtype)
    gone = np.arange(plain.N) == 1
    one, two = (
        State(np.where(gone[:, None], 0.0, x.o), np.where(gone, -np.inf, x.lse))
        for x in (plain.one, plain.two)
    )
    return {"lse-base": (plain,), "fully-masked-lse": (plain.of(one, two),)}


KIND = Kind(
    about="merging",
    noun="a merge of partial results",
    sections={"Q": "merging"},
    problem=Problem,
    definition="Q1",
    core=plug.core,
    truth=truth,
    mistakes=mistakes.MISTAKES,
    load=plug.merging,
    vocabulary=VOCABULARY,
    meanings=MEANINGS,
    targets=Targets(
        told=plug.told, layouts={name: layout.words for name, layout in LAYOUTS.items()}
    ),
    functions=Functions(
        compares={"forward": ("Q1", "Q2"), "backward": ("Q3", "Q4"), "call": ("Q26",)},
        parts={"Q1": "the output", "Q2": "the log-sum-exp", "Q3": "do", "Q4": "dlse"},
    ),
    trials=Trials(beyond=plug.core),
    conventions=Conventions(
        under=under, telling=telling, told_by={"lse-base": "Q2", "fully-masked-lse": "Q2"}
    ),
    reports=Reports(excluded=excluded),
)
