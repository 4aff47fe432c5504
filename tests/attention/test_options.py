"""The rows of the options, and what is read from them."""

import inspect

import numpy as np
import pytest

from spec import assert_attention
from spec.attention import definition
from spec.attention.contents import Options
from spec.attention.mistakes import MISTAKES
from spec.attention.mistakes.given import Given
from spec.attention.options import (
    CAUSAL,
    FIRST,
    KINDS,
    MASK,
    PAIRS,
    PARAMETERS,
    POSITIONS,
    SEGMENTS,
    SINGLE,
    SLOPES,
    Capability,
    kinds_of,
    together,
)
from spec.attention.plug import implementation
from spec.attention.plug.signature import signature_of
from spec.attention.plug.trials import core, kinds
from spec.attention.simplify import options
from spec.cache.record import Capability as OfCache
from spec.certification.isolation.guard import Probe
from spec.entries import eighths
from spec.layer.record import Capability as OfLayer
from spec.notation import names
from spec.positions.record import Capability as OfPositions
from tests import targets

TOGETHER = {together(*pair) for pair in PAIRS}
USUAL = {Capability.FUTURE, Capability.BATCHES, Capability.SEVERAL, Capability.QUERIES}  # of most
BESIDE = USUAL | {Capability.FORMS, Capability.LENGTHS}  # or told by others
# Arrays of several forms, each an option as well; and what is asked beside a window alone.
FORMED = ((MASK,), (SLOPES,), POSITIONS, SEGMENTS, (FIRST,))


def test_every_option_of_a_problem_has_a_row():
    assert {p.name for p in PARAMETERS if not p.told} == {*names(Options)}


def test_small_problems_are_of_their_kind_and_of_no_other():
    found = kinds("float32")
    assert found.keys() == KINDS - USUAL
    for option in SINGLE:
        beside = BESIDE | {option.capability}
        for problem in found.get(option.capability, ()):
            assert option.holds(problem)
            assert option.parameters in FORMED or kinds_of(problem) <= beside


def test_a_pair_is_tried_on_each_of_its_parts_with_each_of_the_other():
    assert together(MASK, CAUSAL) == "takes a mask and causal together"
    parts = {
        frozenset(kinds_of(p) - TOGETHER - BESIDE) for p in kinds("float32")[together(MASK, CAUSAL)]
    }
    assert parts == {
        frozenset({Capability.MASK, Capability.CAUSAL}),
        frozenset({Capability.BIAS, Capability.CAUSAL}),
    }


@pytest.mark.parametrize("pair", PAIRS)
def test_a_pair_is_of_who_takes_both(pair):
    for kept in ((), pair[:1], pair[1:], pair):
        names = ["q", "k", "v", *(option.spellings[-1] for option in kept)]
        names += [option.mate for option in kept if option.mate]
        function = eval(f"lambda {', '.join(names)}: None")
        assert (together(*pair) in signature_of(function).kinds) == (kept == pair)


def test_every_spelling_is_taken():
    for option in PARAMETERS:
        for spelling in option.spellings:
            function = eval(f"lambda query, key, value, {spelling}=None: None")
            assert signature_of(function).options == {option.name: spelling}


def test_a_probe_tells_a_pair_by_its_parts():
    problem = core("float32", mask=np.tri(4, 5, dtype=bool), causal=True)
    probe = Probe.of(implementation(targets.right), "forward", problem)
    assert str(probe) == "a boolean mask and causal, float32"


def test_options_are_given_up_one_by_one_and_a_scale_of_one_is_plainer():
    problem = core("float64", mask=eighths(4, 5), causal=True, scale=0.5)
    left = [(p.mask is not None, p.causal, p.scale) for p in options(problem)]
    assert left == [(False, True, 0.5), (True, False, 0.5), (True, True, None), (True, True, 1.0)]
    assert [p.scale for p in options(core("float64", scale=1.0))] == [None]


def test_mistakes_have_the_signature_that_the_rows_say():
    right = MISTAKES["divides_late"].target
    wanted = ["query", "key", "value", *(option.spellings[0] for option in PARAMETERS)]
    assert list(inspect.signature(right).parameters) == wanted
    problem = core("float64", mask=np.tri(4, 5, k=1, dtype=bool), scale=0.5)
    arrays = (problem.q, problem.k, problem.v)
    named = right(*arrays, attn_mask=problem.mask, scale=0.5)
    assert_attention(named, *arrays, mask=problem.mask, scale=0.5)
    assert named.tobytes() == right(*arrays, problem.mask, False, 0.5).tobytes()
    with pytest.raises(TypeError, match="dropout_p"):
        right(*arrays, dropout_p=0.5)
    with pytest.raises(TypeError, match="not mask"):
        Given(*arrays, mask=problem.mask)


def test_assert_attention_takes_options_in_every_spelling():
    problem = core("float64", mask=np.tri(4, 5, k=1, dtype=bool), scale=0.5)
    arrays = (definition.attention(problem), problem.q, problem.k, problem.v)
    assert_attention(*arrays, mask=problem.mask, scale=0.5)
    assert_attention(*arrays, attn_mask=problem.mask, causal=False, scale=0.5, enable_gqa=False)
    with pytest.raises(AssertionError, match="want"):
        assert_attention(*arrays, attn_mask=problem.mask)
    with pytest.raises(TypeError, match="no option is called 'window': there are attn_mask, mask"):
        assert_attention(*arrays, window=3)


def test_what_two_chapters_call_by_one_name_is_one_thing():
    words = {}
    for chapter in (Capability, OfLayer, OfCache, OfPositions):
        for capability in chapter:
            assert words.setdefault(capability.name, str(capability)) == capability
    assert len(set(words.values())) == len(words)
