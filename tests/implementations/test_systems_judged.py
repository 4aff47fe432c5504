"""Test the published systems: correct ones pass every clause that applies to them.

Each published bug fails the clauses that are about it. A system that does not support a kind of
problem declares this. So no clause can pass here because the system raised an exception for all its
problems.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple

import pytest

from implementations.systems import LAYERS, TARGETS
from spec import CLAUSES, about
from spec.attention.mistakes import MISTAKES
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.feed_forward.plug import feed_forward as network
from spec.layer.mistakes import MISTAKES as OF_LAYERS
from spec.layer.plug import layer
from spec.layer.record import KINDS
from spec.layer.record import Capability as OfLayer
from spec.positions import record as positions
from spec.positions.sinusoidal.plug import encoding
from spec.subject import Subject
from tests.judging import QUICK, bound, found, valued
from tests.night import deep

SEEDS = range(20)
PLACE = "implementations.systems"

# Not supported: several query heads for a key head; empty arrays; a bias on the scores.
UNANSWERED: Mapping[str, set[str]] = {
    "list_of_heads:attend": {Capability.GROUPS, Capability.EMPTY},
    "einsum_layer:attend": {Capability.GROUPS, Capability.EMPTY},
    "single_head:attend": {Capability.GROUPS, Capability.EMPTY},
    "scaled_dot_product:attend": {Capability.GROUPS},
    "valid_lengths:attend": {Capability.GROUPS, Capability.EMPTY, Capability.BIAS},
    "torch_names:ListOfHeadsLayer": {OfLayer.UNBATCHED, OfLayer.EACH_HEAD},
    "einsum_layer:EinsumLayer": {OfLayer.UNBATCHED},
    "torch_names:PaddedLayer": {OfLayer.UNBATCHED, OfLayer.EACH_HEAD},
    "positions:SinusoidalPositions": {positions.Capability.LONG},
}
# What a layer does not have in addition. Clauses that need it are not run.
MASKS = {OfLayer.MASK, OfLayer.BIAS, OfLayer.HEAD_MASK, OfLayer.CAUSAL}
LACKS: Mapping[str, set[str]] = {
    "torch_names:ListOfHeadsLayer": {OfLayer.WEIGHTS, OfLayer.PADDING},
    "einsum_layer:EinsumLayer": {OfLayer.PADDING},
    "naive_layer:NaiveLayer": {OfLayer.PADDING},
    "efficient_layer:EfficientLayer": {OfLayer.PADDING},
    "torch_names:PaddedLayer": {OfLayer.WEIGHTS, OfLayer.GRADIENTS, OfLayer.STEP},
}
# A `should` clause that a correct system fails: NaN in a masked value, times a weight of zero.
BROKEN: Mapping[str, set[str]] = {"valid_lengths:attend": {"M8"}}


class Fault(NamedTuple):
    """A published bug: its system and its name, clauses that reject it, and its known bugs.

    spared_by: clauses that it passes; by default, all clauses on layers that catch none of these
    known bugs.
    """

    system: str
    name: str
    backend: str
    refused_by: set[str]
    mistakes: set[str]
    spared_by: AbstractSet[str] = frozenset()

    @property
    def spares(self) -> AbstractSet[str]:
        """The clauses that it passes."""
        layers = about("layer").items()
        others = {number for number, clause in layers if not clause.catches & self.mistakes}
        return self.spared_by or others - self.refused_by


FAULTS = (
    Fault(
        *("list-of-heads", "published_faults:differentiates_softmax_by_element", "numpy"),
        refused_by={"A2", "A3", "S11", "S12", "K2"},
        spared_by={"A1", "A4", "V7", "V8"},
        mistakes={"differentiates_softmax_by_element"},
    ),
    Fault(
        *("list-of-heads", "published_faults:DiagonalForTheJacobian", "numpy"),
        refused_by={"L3", "L14", "L18", "L22"},
        spared_by={"L1", "L2", "L16", "L17", "L19", "L20", "L21", "L44"},
        mistakes={
            "multiplies_by_the_diagonal_as_a_matrix",
            "sends_values_to_the_keys_in_gradients",
        },
    ),
    Fault(
        *("einsum-layer", "published_faults_torch:attends_without_the_maximum", "torch"),
        refused_by={"A1", "S10"},
        spared_by={"B10", "T1", "T2", "T3", "T9"},
        mistakes={"skips_the_maximum"},
    ),
    Fault(
        *("einsum-layer", "published_faults_torch:WithoutTheMaximum", "torch"),
        refused_by={"L1", "L4"},
        spared_by={"L16", "L33", "L42", "L44"},
        mistakes={"exponentiates_the_scores_as_they_are"},
    ),
    Fault(
        *("text-classifier", "published_faults_torch:AlwaysAverages", "torch"),
        refused_by={"L4", "L6", "L7"},
        mistakes={"shows_the_mean_for_every_head"},
    ),
    Fault(
        *("valid-lengths", "published_faults:attends_to_nothing_as_nan", "numpy"),
        refused_by={"A1", "M9"},
        spared_by={"S1", "S10", "V1", "M1", "M3", "M10"},
        mistakes={"gives_idle_queries_nan"},
    ),
    Fault(
        *("valid-lengths", "published_faults:NothingIsNaN", "numpy"),
        refused_by={"L1", "L31"},
        mistakes={"gives_idle_queries_of_a_layer_nan"},
    ),
)
RIGHT = {
    **{t.name.removeprefix(f"{PLACE}."): t.backend for t in (*TARGETS, *LAYERS)},
    "valid_lengths:feed_forward": "numpy",
    "positions:SinusoidalPositions": "torch",
}


def marks(backend: str) -> Any:
    return pytest.mark.torch if backend == "torch" else ()


@cache
def record(name: str, backend: str) -> Subject:
    """A system, or a bug, as a record to run clauses on."""
    if backend == "torch" and not find_spec("torch"):
        raise AssertionError("tests that need torch are not collected without it")
    module, _, inner = name.partition(":")
    target = getattr(import_module(f"{PLACE}.{module}"), inner)
    if inner == "feed_forward":
        made: Any = network(target)
    elif inner == "SinusoidalPositions":
        made = encoding(target)
    else:
        load = layer if isinstance(target, type) else implementation
        made = load(target, backend=backend)
    without = UNANSWERED.get(name, set())
    return made.but(answers=made.answers - without, differentiates=made.differentiates - without)


CASES = [pytest.param(n, b, id=n, marks=marks(b)) for n, b in RIGHT.items()]


@pytest.mark.quick(
    "positions*",
    "valid_lengths:feed*",
    "valid_lengths:attend*",
    "list*",
    "single*",
    "torch_names:PaddedLayer*",
    "scaled*",
    "einsum_layer:attend*",
    "torch_names:ListOfHeadsLayer*",
)
@pytest.mark.parametrize("examples", [1, deep(QUICK)])
@pytest.mark.parametrize(("name", "backend"), CASES)
def test_correct_system_passes_every_clause(name: str, backend: str, examples: int) -> None:
    """In float32; `deep` runs more problems, and float64."""
    one, broken = record(name, backend), BROKEN.get(name, set())
    assert all(CLAUSES[number].force == "should" for number in broken)
    assert bound(one)
    for clause in valued(one):
        few = () if clause.number in broken else (examples,)
        finding = found(clause, one, "float32", *few)
        assert (finding.violation is None) == (clause.number not in broken), (
            clause.id,
            finding.violation,
        )
        assert finding.refused == 0, (clause.id, finding.refusal)
        assert clause.number in broken or finding.examples == examples * clause.effort


@pytest.mark.deep
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("name", "backend"), CASES)
def test_there_are_no_false_alarms(name: str, backend: str, seed: int) -> None:
    one, broken = record(name, backend), BROKEN.get(name, set())
    for dtype in ("float64", "float32"):
        for clause in (clause for clause in valued(one) if clause.number not in broken):
            finding = found(clause, one, dtype, seed=seed)
            assert finding.violation is None, (clause.id, finding.violation)
            assert finding.refused == 0, (clause.id, finding.refusal)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=marks(RIGHT[n])) for n in LACKS], ids=list(LACKS)
)
def test_missing_capabilities_of_a_layer_are_declared(name: str) -> None:
    functions = {OfLayer.GRADIENTS, OfLayer.STEP, OfLayer.STATE, OfLayer.CALL}
    every = KINDS | functions | {OfLayer.WEIGHTS, OfLayer.EVALUATION}
    lacks = LACKS[name] | UNANSWERED.get(name, set())
    absent = MASKS | {OfLayer.WIDTHS, OfLayer.GROUPS} | lacks
    assert record(name, RIGHT[name]).offers == every - absent


@pytest.mark.quick(
    "attends_without*",
    "WithoutTheMaximum",
    "attends_to*",
    "differentiates*",
    "DiagonalForTheJacobian",
    "NothingIsNaN",
)
@pytest.mark.parametrize(
    "fault", [pytest.param(f, id=f.name.split(":")[1], marks=marks(f.backend)) for f in FAULTS]
)
def test_published_bug_fails_the_clauses_about_it(fault: Fault) -> None:
    one = record(fault.name, fault.backend)
    for number in sorted(fault.refused_by):
        assert found(CLAUSES[number], one, "float32").violation is not None, number
    for number in sorted(fault.spares):
        if CLAUSES[number].binds(one):
            assert found(CLAUSES[number], one, "float32", QUICK).violation is None, number


@pytest.mark.parametrize("fault", FAULTS, ids=[f.name.split(":")[1] for f in FAULTS])
def test_published_bug_is_a_known_bug(fault: Fault) -> None:
    assert fault.mistakes <= {*MISTAKES, *OF_LAYERS}
    for mistake in fault.mistakes:
        assert any(mistake in CLAUSES[number].catches for number in fault.refused_by)
