"""Sentences about problems: what they mean, what is no sentence, and how one is denied."""

import itertools
from typing import Any

import numpy as np
import pytest

from spec.attention.features import VOCABULARY
from spec.attention.plug.trials import square
from spec.features import FORMATS, negated, of_class
from spec.kinds import KINDS
from spec.noticed import THRESHOLDS

PROBLEM = square("float32", N=5, M=16)
KEYS = "key positions that differ from row numbers"
QUERIES = "query positions that differ from row numbers"
OTHER = "query positions other than key positions"
FAR = "a masked key that scores far above all visible ones"


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("causal", False),
        ("not causal", True),
        ("N < M and float32", True),
        ("N < M and not float32", False),
        ("causal or M > 8 and N = 5", True),
        ("(causal or M > 8) and N != 5", False),
        ("not (causal and N < M)", True),
        ("M % 8 == 0", True),
        ("no mask", True),
        ("no fully masked query", True),
        ("a query fully masked by -inf", False),
        ("an inexact scale", True),
        ("a scale other than 1", True),
        ("a nonpositive scale", False),
        ("tiny values", False),
        ("entries of more than 11 bits", False),
        ("gradients asked for", True),
        ("the weights asked for", False),
        ("not gradients asked for", False),
        ("no fork asked for", True),
    ],
)
def test_a_sentence_means_what_it_says(sentence: str, holds: bool) -> None:
    assert VOCABULARY.sentence(sentence)(PROBLEM, "gradients") is holds


def test_what_a_region_says_of_a_function_with_an_article_is_understood() -> None:
    """It once was nowhere: the function was taken to be called "no fork"."""
    test = VOCABULARY.sentence(negated("a fork asked for"))
    assert [test(PROBLEM, asked) for asked in ("a fork", "gradients", "")] == [False, True, True]


@pytest.mark.parametrize(
    ("sentence", "reason"),
    [
        ("quick", "'quick' is no condition"),
        ("N < Q", "'N < Q' is no condition"),
        ("causal N < M", "is no condition"),
        ("causal and", "missing before 'the end'"),
        ("or causal", "missing before 'or'"),
        ("(causal", "not closed"),
        ("causal)", "not expected"),
        ("", "missing"),
    ],
)
def test_what_is_no_sentence_is_told(sentence: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("(", r"\(")):
        VOCABULARY.sentence(sentence)


@pytest.mark.parametrize(
    ("sentence", "positions", "base"),
    [
        ("positions in any order", [[0, 2, 4, 6, 8]], 10000.0),
        ("a first position and not positions in any order", [[3, 4, 5, 6, 7]], 10000.0),
        ("positions per sequence", [[0, 1, 2, 3, 4], [1, 2, 3, 4, 5]], 10000.0),
        ("another base and not positions other than 0, 1, 2", [[0, 1, 2, 3, 4]], 500.0),
    ],
)
def test_words_for_positions(sentence: str, positions: list[list[int]], base: float) -> None:
    kind = KINDS["rotary"]
    usual = kind.core("float32")
    other = usual.but(positions=np.resize(positions, (2, 5)), base=base)
    assert kind.features.sentence(sentence)(other, "")
    assert not kind.features.sentence(sentence)(usual, "")


@pytest.mark.parametrize("about", KINDS)
def test_every_candidate_is_a_sentence_and_so_is_its_denial(about: str) -> None:
    kind = KINDS[about]
    problem = kind.core("float32")
    for feature in kind.features.candidates():
        says, denies = map(kind.features.sentence, (feature, negated(feature)))
        assert says(problem, "") is not denies(problem, ""), feature


@pytest.mark.parametrize("about", KINDS)
def test_candidates_are_said_in_their_order(about: str) -> None:
    kind = KINDS[about]
    core = kind.core("float32")
    for problem in (core, *itertools.islice(kind.causes.twists(core), 20)):
        said = zip(kind.features.candidates(), kind.features.said(problem), strict=True)
        for feature, holds in said:
            assert kind.features.sentence(feature)(problem, "") is bool(holds), feature


def test_sizes_that_were_noticed_are_asked_for_after_all_else():
    usual, core = KINDS["attention"].features, KINDS["attention"].core("float32")
    odd = core.part("M", np.arange(37) % core.M)
    told = usual.noticing(odd)
    sizes = {x: getattr(odd, x) for x in "BHGNMDE"}
    equal = {(x, "=", size) for x, size in sizes.items() if size > 2}
    above = {(x, ">", size - 1) for x, size in sizes.items() if size - 1 not in THRESHOLDS}
    assert {x for x in told.noticed if x[0] in sizes} == equal | above
    assert {("M", ">", 36), ("M % 16", "=", 5)} <= {*told.noticed}
    assert told.noticing(odd) == told
    names = [*told.candidates()]
    assert names[: len(usual.candidates())] == [*usual.candidates()]
    assert names[-len(told.noticed) :] == [f"{x} {sign} {size}" for x, sign, size in told.noticed]
    for problem in (odd, core):
        for feature, holds in zip(names, told.said(problem), strict=True):
            assert told.sentence(feature)(problem, "") is bool(holds), feature


def test_a_kind_without_words_of_its_own_has_those_of_its_options() -> None:
    found = of_class(KINDS["attention"].problem)
    assert {"causal", "a given mask", "a given scale", *FORMATS} <= {*found.words}
    assert found.letters == "BHGNMDE"


@pytest.mark.parametrize(
    ("shape", "holds"),
    [
        ((5, 16), False),
        ((16,), False),
        ((2, 3, 5, 16), False),
        ((1, 3, 5, 16), False),
        ((2, 1, 1, 16), True),
        ((2, 1, 5, 16), True),
        ((3, 1, 16), True),
        ((5, 1), True),
    ],
)
def test_a_mask_is_broadcast_inside_if_it_cannot_be_repeated(
    shape: tuple[int, ...], holds: bool
) -> None:
    mask = np.arange(np.prod(shape)).reshape(shape)
    whole = PROBLEM.B, PROBLEM.H, PROBLEM.N, PROBLEM.M

    assert np.array_equal(np.resize(mask, whole), np.broadcast_to(mask, whole)) is not holds

    said = VOCABULARY.sentence("a mask broadcast along an inner axis")
    assert said(PROBLEM.but(mask=mask.astype(float)), "") is holds


@pytest.mark.parametrize(
    ("score", "holds"),
    [
        (-10000.0, []),
        (10.0, ["a masked key that scores highest"]),
        (10000.0, [FAR, "a masked key that scores highest"]),
        (np.nan, ["a NaN", FAR, "a masked key that scores highest"]),
    ],
)
def test_a_hidden_key_is_ahead_by_the_score_that_it_would_have(
    score: float, holds: list[str]
) -> None:
    q, k = np.ones_like(PROBLEM.q), np.zeros_like(PROBLEM.k)
    k[..., -1, 0] = score
    put = PROBLEM.but(q=q, k=k, mask=np.arange(PROBLEM.M) < PROBLEM.M - 1, scale=1.0)

    said = [x for x in sorted(VOCABULARY.words) if "key that scores" in x or x == "a NaN"]

    assert [word for word in said if VOCABULARY.test(word)(put, "")] == holds


FILL = "that survives a fill of -10000"
PLACED = {"key_positions": [2, 1, 0]}


@pytest.mark.parametrize(
    ("sentence", "options"),
    [
        (KEYS, {"key_positions": [1, 2, 3], "causal": True}),
        (f"not {KEYS}", {"key_positions": [0, 1, 2], "causal": True}),
        (f"not {KEYS}", {"key_positions": [1, 2, 3]}),  # nothing goes by them
        (f"not {KEYS}", {"query_positions": [1, 2, 3], "causal": True}),
        (QUERIES, {"query_positions": [1, 2, 3], "window": (None, 0)}),
        ("key positions with jumps", {"key_positions": [0, 1, 3], "slopes": [0.5, 0.5, 0.5]}),
        ("not key positions with jumps", {"key_positions": [4, 5, 6], "causal": True}),
        ("positions beyond the last row", {"key_positions": [0, 1, 3], "causal": True}),
        ("not positions beyond the last row", {"key_positions": [0, 1, 2], "causal": True}),
        (OTHER, {**PLACED, "query_positions": [0, 1, 3], "causal": True}),
        (f"not {OTHER}", {**PLACED, "query_positions": [2, 1, 0], "causal": True}),
        (f"not {OTHER}", {**PLACED, "query_positions": [0, 1, 3]}),
        ("a key in the future", {"causal": True, "mask": np.array([True, True, False])}),
        ("not a key in the future", {"causal": True, "window": (None, 0)}),
        ("not a key in the future", {"mask": np.array([True, True, False])}),
        ("a mask that matters", {"mask": np.array([True, True, False])}),
        ("a mask that matters", {"mask": np.array([0.0, 1.0, 0.0]), "slopes": [0.5, 0.5, 0.5]}),
        ("not a mask that matters", {"mask": np.tri(3, dtype=bool), "causal": True}),
        ("not a mask that matters", {"mask": np.zeros(3), "slopes": [0.5, 0.5, 0.5]}),
        (f"a key {FILL}", {"mask": np.array([-np.inf, -2e4, -3e4])}),
        (f"not a key {FILL}", {"mask": np.array([-np.inf, -2e4, -5e3])}),
        (f"not a key {FILL}", {"mask": np.array([-2e4, -2e4, -3e4])}),  # nothing is filled
        (f"not a key {FILL}", {"mask": np.full(3, -np.inf)}),  # of idle queries there is a word
        (f"a key {FILL}", {"mask": np.full(3, -np.inf), "sinks": np.full(3, -2e4)}),
        (f"not a key {FILL}", {"mask": np.array([-np.inf, -2e4, -3e4]), "sinks": np.zeros(3)}),
        ("not a key that survives a fill of -1e30", {"mask": np.array([-np.inf, -2e4, -3e4])}),
        ("a key before the window", {"window": (1, None)}),
        ("not a key before the window", {"window": (2, 0)}),
        ("a key after the window", {"window": (None, 1)}),
        ("not a key after the window", {"window": (0, 1), "causal": True}),
        ("a key at the left window bound", {"window": (1, None)}),
        ("not a key at the left window bound", {"window": (3, 0)}),
        ("a key at the right window bound", {"window": (0, 2)}),
        ("not a key at the right window bound", {"window": (0, 2), "causal": True}),
        ("biases of any kind", {"slopes": [0.5, 0.5, 0.5]}),
        ("biases of any kind and finite biases", {"mask": np.array([0.0, 1.0, 0.0])}),
        ("not biases of any kind", {"mask": np.array([0.0, 0.0, -np.inf])}),
        ("attention sinks above 8", {"sinks": np.array([0.0, 9.0, 0.0])}),
        ("not attention sinks above 8", {"sinks": np.array([0.0, -9.0, 0.0])}),
        ("a window bound of zero and not a window with one bound", {"window": (0, 1)}),
        ("a window with one bound and not a window bound of zero", {"window": (None, 1)}),
        ("padding on both sides", {"query_segments": [0, -1, 0], "key_segments": [0, 1, -1]}),
        ("not padding on both sides", {"query_segments": [0, 1, 0], "key_segments": [0, 1, -1]}),
        ("segments 256 apart", {"query_segments": [0, 0, 1], "key_segments": [0, 1, 256]}),
        ("segments 16 apart", {"query_segments": [0, 0, 1], "key_segments": [0, 1, 256]}),
        ("not segments 256 apart", {"query_segments": [0, 0, 1], "key_segments": [0, 1, 16]}),
        ("not segments 16 apart", {"query_segments": [0, 1, 15], "key_segments": [0, 1, 14]}),
    ],
)
def test_words_for_places_and_texts(sentence: str, options: dict[str, Any]) -> None:
    arrays = {x: np.array([y, y]) if isinstance(y, list) else y for x, y in options.items()}
    problem = square("float32", N=3, M=3, H=3, G=3).but(**arrays)
    assert VOCABULARY.sentence(sentence)(problem, "")


@pytest.mark.parametrize(("of_the_second_key", "holds"), [(1, False), (-1, True)])
def test_scores_may_be_apart_of_two_queries_alone(of_the_second_key: int, holds: bool) -> None:
    q, k = ([100], [1]), ([1], [of_the_second_key])
    problem = square("float64", B=1, H=1, G=1, N=2, M=2, D=1).but(
        q=np.array(q, dtype=np.float64)[None, None], k=np.array(k, dtype=np.float64)[None, None]
    )
    assert VOCABULARY.sentence("scores 80 apart")(problem, "")
    assert VOCABULARY.sentence("scores of one query 80 apart")(problem, "") is holds
