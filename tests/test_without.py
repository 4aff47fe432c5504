"""No problem of a clause about a layer, cache or merge has an option that its page is without."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from spec import about
from spec.attention.options import KINDS as OF_ATTENTION
from spec.certification.judging.binding import without
from spec.certification.judging.drawing import series
from spec.domain import Scope
from spec.kinds import KINDS
from spec.layer.features import WORDS
from spec.layer.record import KINDS as OF_LAYERS

HAS: Mapping[str, Mapping[str, Callable[[Any], bool]]] = {
    "layer": {
        "a boolean mask": lambda p: p.mask is not None and p.mask.dtype == bool,
        "an additive mask": lambda p: p.mask is not None and p.mask.dtype != bool,
        "a mask per head": lambda p: p.mask is not None and p.mask.ndim == 3,
        "a padding mask": lambda p: p.padding is not None,
        "causality": lambda p: p.causal,
        "a fully masked query": WORDS["a fully masked query"],
        "fewer key heads than query heads": lambda p: p.key_heads != p.H,
        "input widths that differ": lambda p: p.own_widths,
        "biases of projections": lambda p: bool(p.biases),
        "N other than M": lambda p: p.query.shape[1] != p.key.shape[1],
    },
    "cache": {
        "a window": lambda p: p.window is not None,
        "fewer key heads than query heads": lambda p: p.G != p.H,
    },
    "merging": {
        "an empty part": lambda p: bool(np.isneginf([p.lse_1, p.lse_2]).any()),
        "two empty parts": lambda p: bool(np.isneginf([p.lse_1, p.lse_2]).all(axis=0).any()),
    },
    "dropout": {"a mask": lambda p: p.mask is not None, "causality": lambda p: p.causal},
}


def answers(kind: str) -> frozenset[str]:
    """All kinds of problems that a target of a kind may support."""
    needed = (clause.needs for clause in about(kind).values())
    known = {"layer": OF_LAYERS, "dropout": OF_ATTENTION}
    return known[kind] if kind in known else frozenset[str]().union(*needed)


@pytest.mark.parametrize("kind", HAS)
def test_what_a_clause_is_without_is_not_drawn(kind: str) -> None:
    wrong, seen = [], set()
    for clause in about(kind).values():
        lacks = [*filter(None, without(clause).split(", "))]
        drawn = [*series(clause, Scope("float32", answers(kind)), 12, 0)]
        wrong += [(clause.number, x) for x in lacks if any(map(HAS[kind][x], drawn))]
        seen |= {x for x, has in HAS[kind].items() if any(map(has, drawn))}
    assert not wrong
    assert seen == HAS[kind].keys()


def test_a_page_says_it() -> None:
    layers, caches, merges = map(about, ("layer", "cache", "merging"))
    assert "causality" in without(layers["L35"])
    assert "fewer key heads than query heads" in without(layers["L18"])
    assert "a fully masked query" in without(layers["L7"])
    assert without(caches["C16"]) == "a window"
    assert without(merges["Q10"]) == "an empty part"
    assert not without(merges["Q1"])
    assert without(about("dropout")["D15"]) == "a mask, causality"
    assert {kind for kind in KINDS if any(map(without, about(kind).values()))} == {
        "attention",
        *HAS,
    }
