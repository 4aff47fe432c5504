"""Positions as others have them: by another name, of one side, far away, under any corner."""

from functools import partial

import numpy as np
import pytest

from implementations import dense
from spec import assert_attention, certify
from spec.attention import places
from spec.attention.definition import attention
from spec.attention.domain import Problems
from spec.attention.moves import placed
from spec.attention.notation import Problem
from spec.attention.options import KEY_POSITIONS, KINDS, QUERY_POSITIONS, Capability
from spec.attention.plug import implementation
from spec.attention.plug.trials import core
from spec.attention.simplify import options
from spec.domain import Scope
from spec.saved import problem_from_json, problem_to_json
from tests.attention.draws import EITHER_WAY

attend = partial(dense.attend, enable_gqa=True)
SMALL = {"backend": "numpy", "dtypes": "float32", "profile": "quick", "clauses": "A1,I"}
P, R = np.array([[3, 4, 4, 9], [-2, 0, 1, 2]]), np.array([[0, 4, 3, 9, 5], [-2, -1, 0, 2, 2]])
BOTH = {"query_positions": P, "key_positions": R}
LIBRARIES = ("torch", "jax")
CORNERS = ("causal", "window-alignment", "slopes-alignment")


def outcomes(certificate):
    return {v.clause: v.outcome for v in certificate.verdicts if v.clause[0] == "I"}


def known_as(query, key, value, is_causal=False, position_ids=None, kv_positions=None):
    at = {"query_positions": position_ids, "key_positions": kv_positions}
    return attend(query, key, value, is_causal=is_causal, **at)


def of_both_or_none(query, key, value, is_causal=False, query_positions=None, key_positions=None):
    at = {"query_positions": query_positions, "key_positions": key_positions}
    if sum(x is None for x in at.values()) == 1:
        raise NotImplementedError("positions are given of both sides")
    return attend(query, key, value, is_causal=is_causal, **at)


def of_queries_alone(query, key, value, is_causal=False, query_positions=None):
    return attend(query, key, value, is_causal=is_causal, query_positions=query_positions)


def swallows(query, key, value, **options):
    """Takes every option that there is, and heeds all but four."""
    for name in ("query_positions", "key_positions", "query_segments", "key_segments"):
        options.pop(name, None)
    return dense.attend(query, key, value, **options)


def ignores(query, key, value, is_causal=False, query_positions=None, key_positions=None):  # noqa: ARG001
    return attend(query, key, value, is_causal=is_causal)


def from_the_end(query, key, value, is_causal=False, query_positions=None, key_positions=None):
    """Has the last query see the last key, as long as nobody says where they stand."""
    at = {"query_positions": query_positions, "key_positions": key_positions}
    if query_positions is key_positions is None:
        B, N, M = query.shape[0], query.shape[2], key.shape[2]
        at["query_positions"] = np.tile(np.arange(M - N, M), (B, 1))
    return attend(query, key, value, is_causal=is_causal, **at)


def test_positions_are_known_by_their_names():
    certificate = certify(known_as, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["I5"] == outcomes(certificate)["I9"] == "holds"


def test_who_wants_positions_of_both_sides_is_asked_for_those():
    certificate = certify(of_both_or_none, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["I5"] == "holds"
    assert outcomes(certificate)["I3"] in ("refused", "not offered")
    (refusal,) = certificate.refusals
    assert refusal.what == Capability.POSITIONED_ALONE


def test_who_takes_those_of_queries_alone_is_not_asked_for_any():
    certificate = certify(of_queries_alone, **SMALL)
    assert certificate.passed, str(certificate)
    assert set(outcomes(certificate).values()) == {"not offered"}


def test_who_takes_positions_and_ignores_them_is_refused():
    certificate = certify(ignores, **SMALL | {"profile": "standard"}, fail_fast=True)
    assert not certificate.passed
    problem = certificate.failures[0].counterexample.problem
    assert problem.query_positions is not None or problem.key_positions is not None


@pytest.mark.deep
def test_who_takes_positions_and_ignores_them_is_told_so():
    certificate = certify(swallows, **SMALL | {"clauses": "A1"})
    assert not certificate.passed
    told = " ".join(x.sentence for x in certificate.causes)
    assert "places" in told or "positions" in told


@pytest.mark.parametrize("corner", ["top-left", "bottom-right"])
def test_no_corner_has_a_say_beside_positions(corner):
    function = attend if corner == "top-left" else from_the_end
    conventions = dict.fromkeys(CORNERS[:1], corner)
    certificate = certify(function, **SMALL, conventions=conventions)
    assert certificate.passed, str(certificate)
    p = core("float64", N=3).but(query_positions=P[:, :3], causal=True, window=(1, None))
    corners = {"corner": corner, "window_corner": corner, "slopes_corner": corner}
    np.testing.assert_array_equal(p.but(**corners).allowed, p.allowed)


def test_positions_reach_a_function_as_integers_and_each_of_them_if_it_is_given():
    seen = set()

    def watched(query, key, value, is_causal=False, **options):
        at = [options.get(x) for x in ("query_positions", "key_positions")]
        seen.add(tuple(None if x is None else str(x.dtype) for x in at))
        return attend(query, key, value, is_causal=is_causal, **options)

    certify(watched, **SMALL | {"clauses": "I3"})
    assert seen == {(None, None), ("int32", None), (None, "int32"), ("int32", "int32")}


@pytest.mark.parametrize("memory", ["contiguous", "strided", "offset", "expanded"])
@pytest.mark.parametrize(
    "library", [pytest.param(x, marks=getattr(pytest.mark, x)) for x in LIBRARIES]
)
def test_positions_reach_a_function_as_integers_of_its_library(library, memory):
    pytest.importorskip(library)
    seen = {}

    def watched(*arrays, **options):
        seen.update(options)
        return arrays[0]

    implementation(watched, backend=library).forward(core("float32").but(memory=memory, **BOTH))
    for name, numbers in BOTH.items():
        assert type(seen[name]).__module__.startswith(library)
        assert str(seen[name].dtype).endswith("int32")
        assert seen[name].tolist() == numbers.tolist()


def test_a_problem_with_positions_is_written_and_read():
    problem = core("float32").but(query_positions=P)
    back = problem_from_json(Problem, problem_to_json(problem))
    assert back.query_positions.dtype.kind == "i"
    np.testing.assert_array_equal(back.query_positions, P)
    assert back.key_positions is None


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"query_positions": P[:1]}, r"positions of queries are integers .* \(2, 4\)"),
        ({"key_positions": R[:, 1:]}, r"positions of keys are integers .* \(2, 5\)"),
        ({"key_positions": R + 0.5}, "positions of keys are integers"),
        ({"key_positions": R + 2**30}, r"positions of keys are integers from -2\^30 to 2\^30"),
    ],
)
def test_what_are_no_positions_is_told_in_a_line(changes, told):
    p = core("float32")
    with pytest.raises(ValueError, match=told) as error:
        assert_attention(p.dout, p.q, p.k, p.v, **{**BOTH, **changes})
    assert "\n" not in str(error.value)


def test_assert_attention_knows_positions():
    p = core("float32")
    q, k, v = (x.astype(np.float32) for x in (p.q, p.k, p.v))
    out = known_as(q, k, v, True, P.astype(np.int32), R.astype(np.int32))
    assert_attention(out, q, k, v, causal=True, **BOTH)
    assert_attention(out, q, k, v, causal=True, q_positions=P, kv_positions=R)
    with pytest.raises(AssertionError, match="at "):
        assert_attention(out, q, k, v, causal=True)


def test_causality_windows_and_slopes_go_by_places():
    """The definition by hand."""
    problem = core("float64").but(causal=True, window=(4, None), **BOTH)
    ahead = R[:, None, :] - P[:, :, None]
    np.testing.assert_array_equal(problem.allowed[:, 0], (ahead <= 0) & (ahead >= -4))
    slopes = np.array([0.5, 0.25, 2.0])
    slanted = core("float64").but(slopes=slopes, **BOTH)
    np.testing.assert_array_equal(slanted.bias, -slopes[:, None, None] * abs(ahead)[:, None])
    alone = core("float64").but(causal=True, key_positions=R)
    np.testing.assert_array_equal(alone.allowed[:, 0], R[:, None, :] <= np.arange(4)[:, None])
    first = core("float64").but(causal=True, query_positions=0 * P, key_positions=R * 0 - [[1]] * 2)
    assert attention(first).tolist() == attention(core("float64")).tolist()


def test_positions_are_given_up_side_by_side():
    problem = core("float64").but(causal=True, **BOTH)
    given = {(p.query_positions is None, p.key_positions is None) for p in options(problem)}
    assert given == {(True, True), (True, False), (False, True), (False, False)}
    assert {x.mate for x in (QUERY_POSITIONS, KEY_POSITIONS)} == set(BOTH)
    lowest = {p.key_positions.min() for p in options(problem) if p.key_positions is not None}
    assert lowest - {R.min()} == {0}


def test_positions_move_with_their_tokens():
    problem = core("float64").but(**BOTH)
    moved = problem.part("N", [3, 0]).part("M", [4, 1]).part("B", [1])
    assert moved.query_positions.tolist() == [[2, -2]]
    assert moved.key_positions.tolist() == [[2, -1]]
    found = placed(core("float64").but(query_positions=P)).key_positions
    assert found.tolist() == [[*range(5)]] * 2
    assert placed(core("float64")).key_positions is None


@EITHER_WAY
def test_who_takes_no_positions_is_asked_what_was_asked_before_there_were_any(draw):
    scope = Scope("float32", KINDS - {Capability.POSITIONED})
    usual, never = (draw(Problems(positions=x), scope, 60) for x in (None, False))
    for one, other in zip(usual, never, strict=True):
        assert one.query_positions is other.key_positions is None
        assert (one.seed, one.scale, one.window) == (other.seed, other.scale, other.window)
        assert one.q.tobytes() == other.q.tobytes()


@EITHER_WAY
def test_places_are_of_every_sort(draw):
    problems = draw(Problems(positions=True), Scope("float32", KINDS), 400)
    p, r = (
        [x for x in xs if x is not None and x.size]
        for xs in zip(*((x.query_positions, x.key_positions) for x in problems), strict=True)
    )
    assert 0.1 < np.mean([x.query_positions is None for x in problems]) < 0.4
    assert 0.1 < np.mean([x.key_positions is None for x in problems]) < 0.4
    assert 0.05 < np.mean([(np.diff(x) < 0).any() for x in r]) < 0.6
    assert 0.02 < np.mean([(np.diff(x) == 0).any() for x in r]) < 0.5
    assert 0.02 < np.mean([(np.diff(x) > 1).any() for x in p]) < 0.6
    assert 0.05 < np.mean([x.min() < 0 for x in p]) < 0.5
    far = {n: sum(np.abs(x).max() > n - 1400 for x in r) for n in places.FAR}
    assert min(far.values()) > 0
    assert np.mean([x.idle.any() for x in problems]) < 0.5
    assert any(len({tuple(row) for row in x}) > 1 for x in p)


def test_who_compiles_is_asked_in_the_same_shapes_with_other_places():
    found = [places.drawn(seed, 2, 5, 6) for seed in range(20)]
    assert {(x.shape, y.shape) for x, y in found} == {((2, 5), (2, 6))}
    assert len({x.tobytes() for x, _ in found}) > 10
    near = [places.drawn(s, 2, 5, 6, True)[0] for s in range(40)]
    assert all(np.abs(x).max() < 100 for x in near)
