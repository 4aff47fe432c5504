"""Functions that are told how long each sequence is, or of segments once: how they are asked."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from implementations.dense import attend
from spec import CLAUSES, certify
from spec.attention import texts
from spec.attention.mistakes import lengths
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.plug import implementation
from spec.attention.plug.trials import square
from spec.attention.small import ALIKE_TEXTS, OF_ONE_TEXT, OF_TEXTS, UNLIKE
from spec.certification.judging.drawing import series
from spec.certification.judging.judging import scope_for
from spec.notation import Array
from spec.subject import Refused
from tests.attention.test_scripts import found, run
from tests.night import deep

RIGHT: Any = lengths.program(lengths.Steps())
FEW: dict[str, Any] = {"profile": "quick", "dtypes": "float32"}


def at_once(query: Array, key: Array, value: Array, segment_ids: Array | None = None) -> Array:
    """Segments are those of queries and of keys."""
    found = {"query_segments": segment_ids, "key_segments": segment_ids}
    return attend(query, key, value, **found)


def filled(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | None = None,
    query_seq_lengths: Array | None = None,
    key_value_seq_lengths: Array | None = None,
) -> Array:
    """As `jax.nn` has it: a fill where keys are hidden, and a product with 0 behind a length."""
    s = query @ key.swapaxes(-1, -2) / query.dtype.type(np.sqrt(query.shape[-1]))
    least, live = np.finfo(s.dtype).min / 2, np.ones(s.shape[:3], dtype=bool)
    if attn_mask is not None:
        if attn_mask.dtype != bool:
            raise TypeError("a mask is of truth values")
        s = np.where(attn_mask, s, least)
    if query_seq_lengths is not None and key_value_seq_lengths is not None:
        mine = np.arange(s.shape[2]) < query_seq_lengths[:, None]
        seen = np.arange(s.shape[3]) < key_value_seq_lengths[:, None]
        s = np.where((mine[:, :, None] & seen[:, None])[:, None], s, least)
        live = live & mine[:, None]
    e = np.exp(s - s.max(axis=-1, keepdims=True, initial=np.finfo(s.dtype).min))
    a = e / np.where(key.shape[2], e.sum(axis=-1, keepdims=True), 1)
    return np.asarray((a * live[..., None]) @ value)


def asked(target: Any, number: str) -> Iterator[Problem]:
    record = implementation(target, backend="numpy")
    scope = scope_for(CLAUSES[number], record, "float32", "strict", "quick")
    return series(CLAUSES[number], scope, 40, 0)


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (OF_ONE_TEXT, ([4, 3], [4, 3])),
        (UNLIKE, ([4, 3], [3, 2])),
        (ALIKE_TEXTS, None),
        (OF_TEXTS, None),
        ({"query_segments": [[-1, 0]], "key_segments": [[0, 0]]}, None),
        ({"query_segments": [[5, -2]], "key_segments": [[5, 5]]}, ([1], [2])),
        ({"query_segments": [[5, -2]], "key_segments": [[4, 4]]}, None),
        ({"query_segments": [[-1, -1]], "key_segments": [[-3, -1]]}, ([0], [0])),
    ],
)
def test_lengths_tell_of_one_text_and_padding_behind_it(given: Any, found: Any) -> None:
    one = {name: np.asarray(x) for name, x in given.items()}
    B, N = one["query_segments"].shape
    problem = square("float32", B=B, N=N, M=one["key_segments"].shape[1]).but(**one)
    told = texts.lengths(problem)
    assert (told is None) == (found is None)
    assert texts.several(problem) == (found is None)
    if told is not None:
        assert [x.tolist() for x in told] == [*found]


def test_who_is_told_lengths_is_asked_of_one_text_a_sequence() -> None:
    assert Capability.LABELS not in implementation(RIGHT, backend="numpy").answers
    problems = [p for p in asked(RIGHT, "J9") if p.query_segments is not None]
    found = [texts.lengths(p) for p in problems]
    assert len(problems) > 30
    assert None not in found
    assert any(p.M != p.N for p in problems)
    ends = [n / p.N for p, told in zip(problems, found, strict=True) for n in told[0]]
    assert 0 in ends
    assert 1 in ends


def test_who_is_told_segments_once_is_asked_of_as_many_queries_as_keys_there() -> None:
    assert Capability.OTHERS not in implementation(at_once, backend="numpy").answers
    problems = [*asked(at_once, "J9")]
    assert all(not texts.apart(p) for p in problems)
    assert any(texts.several(p) for p in problems)
    assert any(p.N != p.M for p in asked(at_once, "A1"))


@pytest.mark.parametrize("clauses", [("A1", "A2", "A7", "J"), deep(None)])
@pytest.mark.parametrize("target", [RIGHT, at_once])
def test_they_are_certified(target: Any, clauses: Any) -> None:
    certificate = certify(target, backend="numpy", **FEW, clauses=clauses)
    assert certificate.passed, str(certificate)
    outcomes = {v.clause: v.outcome for v in certificate.verdicts}
    assert outcomes["J2"] == outcomes["J9"] == outcomes["J12"] == "holds"
    assert outcomes["J8"] == "not offered"


def test_what_they_cannot_be_told_is_refused() -> None:
    for target, given in ((RIGHT, ALIKE_TEXTS), (at_once, UNLIKE)):
        with pytest.raises(Refused):
            implementation(target, backend="numpy").forward(square("float32").but(**given))


@pytest.mark.parametrize("clauses", [("A1", "A2", "A7", "J", "M"), deep(None)])
def test_padding_is_zero_and_who_sees_no_key_a_mean(clauses: Any) -> None:
    """The rows behind a length are cleared by another hand than those that a mask hides."""
    undeclared = certify(filled, **FEW, fail_fast=True)
    assert not undeclared.passed
    assert "--convention padding-queries=zero" in " ".join(str(undeclared).split())
    chosen = {"fully-masked": "uniform", "padding-queries": "zero"}
    declared = certify(filled, **FEW, clauses=clauses, conventions=chosen)
    assert declared.passed, str(declared)
    alone = certify(filled, **FEW, conventions={"fully-masked": "uniform"}, fail_fast=True)
    assert not alone.passed


def test_a_script_says_lengths(tmp_path: Any) -> None:
    text = found("A1", "spec.attention.mistakes.lengths:sees_the_key_at_its_length", "float32")
    assert "key_value_seq_lengths = np.array([" in text
    again = run(text, tmp_path)
    assert (again.returncode, again.stderr) == (1, "")
