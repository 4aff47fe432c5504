"""Segments as others have them: by another name, of one side, in the integers of a library."""

from functools import partial

import numpy as np
import pytest

from implementations import dense
from spec import assert_attention, certify
from spec.attention import texts
from spec.attention.definition import attention
from spec.attention.domain import Problems
from spec.attention.notation import Problem
from spec.attention.options import KEY_SEGMENTS, KINDS, QUERY_SEGMENTS, Capability
from spec.attention.plug import implementation
from spec.attention.plug.trials import core
from spec.attention.simplify import options
from spec.domain import Scope
from spec.saved import problem_from_json, problem_to_json
from tests.attention.draws import EITHER_WAY

attend = partial(dense.attend, enable_gqa=True)
SMALL = {"backend": "numpy", "dtypes": "float32", "profile": "quick", "clauses": "A1,J"}
QUERIES, KEYS = (
    np.array([[0, 0, 7, 3], [3, 3, -1, -1]]),
    np.array([[0, 7, 7, 0, 3], [3] * 4 + [-1]]),
)
LIBRARIES = ("torch", "jax")
BOTH = {"query_segments": QUERIES, "key_segments": KEYS}


def outcomes(certificate):
    return {v.clause: v.outcome for v in certificate.verdicts if v.clause[0] == "J"}


def known_as(query, key, value, q_segment_ids=None, kv_segment_ids=None):
    return attend(query, key, value, query_segments=q_segment_ids, key_segments=kv_segment_ids)


def without_masks(query, key, value, attn_mask=None, query_segments=None, key_segments=None):
    if attn_mask is not None and query_segments is not None:
        raise NotImplementedError("segments are not supported beside a mask")
    return attend(
        query, key, value, attn_mask, query_segments=query_segments, key_segments=key_segments
    )


def of_queries_alone(query, key, value, query_segments=None):
    return attend(query, key, value, query_segments=query_segments)


def swallows(query, key, value, **options):
    """Takes every option that there is, and heeds all but two."""
    for name in ("query_segments", "key_segments", "alibi_slopes"):
        options.pop(name, None)
    return dense.attend(query, key, value, **options)


def test_segments_are_known_by_their_names():
    certificate = certify(known_as, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["J2"] == outcomes(certificate)["J9"] == "holds"


def test_who_refuses_a_mask_beside_them_is_asked_for_segments_alone():
    certificate = certify(without_masks, **SMALL)
    assert certificate.passed, str(certificate)
    assert outcomes(certificate)["J2"] == outcomes(certificate)["J5"] == "holds"
    (refusal,) = certificate.refusals
    assert refusal.what == "takes a mask and segments together"


def test_who_takes_those_of_queries_alone_is_not_asked_for_any():
    certificate = certify(of_queries_alone, **SMALL)
    assert certificate.passed, str(certificate)
    assert set(outcomes(certificate).values()) == {"not offered"}


def test_who_takes_segments_and_ignores_them_is_refused():
    certificate = certify(swallows, **SMALL | {"clauses": "A1,J2"}, fail_fast=True)
    assert not certificate.passed
    assert certificate.failures[0].counterexample.problem.key_segments is not None


@pytest.mark.deep
def test_who_takes_segments_and_ignores_them_is_told_so():
    certificate = certify(swallows, **SMALL | {"clauses": "A1"})
    assert not certificate.passed
    assert any(
        "keys of another segment" in x.sentence or "segments" in x.sentence
        for x in certificate.causes
    )


def test_segments_reach_a_function_as_integers():
    seen = set()

    def watched(query, key, value, query_segments=None, key_segments=None):
        for x in (query_segments, key_segments):
            seen.add(None if x is None else (str(query.dtype), str(x.dtype)))
        return attend(query, key, value, query_segments=query_segments, key_segments=key_segments)

    certify(watched, **SMALL | {"dtypes": ("float64", "float16"), "clauses": "J9"})
    assert seen == {None, ("float64", "int32"), ("float16", "int32")}


@pytest.mark.parametrize("memory", ["contiguous", "strided", "offset", "expanded"])
@pytest.mark.parametrize(
    "library", [pytest.param(x, marks=getattr(pytest.mark, x)) for x in LIBRARIES]
)
def test_segments_reach_a_function_as_integers_of_its_library(library, memory):
    pytest.importorskip(library)
    seen = {}

    def watched(*arrays, **options):
        seen.update(options)
        return arrays[0]

    record = implementation(watched, backend=library)
    record.forward(core("float32", M=5).but(memory=memory, **BOTH))
    for name, numbers in BOTH.items():
        assert type(seen[name]).__module__.startswith(library)
        assert str(seen[name].dtype).endswith("int32")
        assert seen[name].tolist() == numbers.tolist()


def test_a_problem_with_segments_is_written_and_read():
    problem = core("float32").but(**BOTH)
    back = problem_from_json(Problem, problem_to_json(problem))
    assert back.query_segments.dtype.kind == "i"
    np.testing.assert_array_equal(back.key_segments, KEYS)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"query_segments": None}, "of queries and keys, or of neither: no queries"),
        ({"key_segments": None}, "of queries and keys, or of neither: no keys"),
        ({"query_segments": QUERIES[:1]}, r"segments of queries are integers .* \(2, 4\)"),
        ({"key_segments": KEYS[:, 1:]}, r"segments of keys are integers .* \(2, 5\)"),
        ({"key_segments": KEYS + 0.5}, "segments of keys are integers"),
        ({"key_segments": KEYS + 2**31}, "segments of keys are integers of 32 bits"),
    ],
)
def test_what_are_no_segments_is_told_in_a_line(changes, told):
    p = core("float32")
    with pytest.raises(ValueError, match=told) as error:
        assert_attention(p.dout, p.q, p.k, p.v, **{**BOTH, **changes})
    assert "\n" not in str(error.value)


def test_assert_attention_knows_segments():
    p = core("float32")
    q, k, v = (x.astype(np.float32) for x in (p.q, p.k, p.v))
    out = known_as(q, k, v, QUERIES.astype(np.int32), KEYS.astype(np.int32))
    assert_attention(out, q, k, v, **BOTH)
    assert_attention(out, q, k, v, q_segment_ids=QUERIES, kv_segment_ids=KEYS)
    with pytest.raises(AssertionError, match="at "):
        assert_attention(out, q, k, v)


def test_padding_is_no_text():
    """-1 is not -1, and a mask says the same: the definition by hand."""
    problem = core("float64").but(**BOTH)
    together = (QUERIES[:, :, None] == KEYS[:, None, :]) & (KEYS >= 0)[:, None, :]
    np.testing.assert_array_equal(problem.allowed[:, 0], together)
    assert problem.idle[:, 0].tolist() == [[False] * 4, [False, False, True, True]]
    assert (attention(problem)[1, :, 2:] == 0).all()


def test_both_go_where_one_does():
    problem = core("float64").but(**BOTH)
    plain = [p for p in options(problem) if p.query_segments is None]
    assert plain
    assert all(p.key_segments is None for p in plain)
    assert {x.mate for x in (QUERY_SEGMENTS, KEY_SEGMENTS)} == set(BOTH)


def test_segments_move_with_their_tokens():
    problem = core("float64").but(**BOTH)
    moved = problem.part("N", [3, 0]).part("M", [4, 1]).part("B", [1])
    assert moved.query_segments.tolist() == [[-1, 3]]
    assert moved.key_segments.tolist() == [[-1, 3]]


@EITHER_WAY
def test_who_takes_no_segments_is_asked_what_was_asked_before_there_were_any(draw):
    scope = Scope("float32", KINDS - {Capability.SEGMENTS})
    usual, never = (draw(Problems(segments=x), scope, 60) for x in (None, False))
    for one, other in zip(usual, never, strict=True):
        assert one.query_segments is other.key_segments is None
        assert (one.seed, one.scale, one.window) == (other.seed, other.scale, other.window)
        assert one.q.tobytes() == other.q.tobytes()


@EITHER_WAY
def test_texts_are_of_every_sort(draw):
    problems = draw(Problems(segments=True), Scope("float32", KINDS), 300)
    pairs = [(p.query_segments[0], p.key_segments[0]) for p in problems]
    alike = [p.N == p.M and (p.query_segments == p.key_segments).all() for p in problems]
    assert 0.05 < np.mean(alike) < 0.6
    assert 0.1 < np.mean([p.key_segments.min() < 0 for p in problems]) < 0.4
    assert 0.05 < np.mean([(np.diff(k[k >= 0]) < 0).any() for _, k in pairs]) < 0.4
    assert any(set(q) - set(k) for q, k in pairs)
    assert any(set(k) - set(q) for q, k in pairs)
    labels = {int(x) for _, k in pairs for x in k}
    assert labels == {-1, 0, 1, 2, 3, *texts.LABELS}
    asked = {(p.causal, p.mask is not None, p.slopes is not None) for p in problems}
    assert len(asked) == 8


def test_who_compiles_is_asked_in_the_same_shapes_with_other_texts():
    found = [texts.drawn(seed, 2, 5, 6) for seed in range(20)]
    assert {(x.shape, y.shape) for x, y in found} == {((2, 5), (2, 6))}
    assert len({x.tobytes() for x, _ in found}) > 10
