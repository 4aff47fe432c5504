"""The domains: what is drawn lies in the formats, in range, and covers the space it should."""

from collections import Counter
from collections.abc import Iterator
from itertools import combinations_with_replacement
from typing import get_args

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from spec import CLAUSES
from spec.attention import moves
from spec.attention.domain import ANY, BOOLEAN, ENDS, EVERY, PLAIN, Problems
from spec.attention.masks import FORMS
from spec.attention.notation import Problem
from spec.attention.options import KINDS, Capability, kinds_of
from spec.domain import Scope
from spec.entries import FAMILIES, VAST
from spec.exploring import problems
from spec.formats import rounded
from spec.notation import DTYPES, GRADES, Memory
from spec.sizes import EDGES, LONG, Tiled
from tests.attention.draws import EITHER_WAY, QUIET, Draws, drawn, judged
from tests.attention.in_domain import in_domain


def arrays(problem: Problem) -> Iterator[np.ndarray]:
    yield from (problem.q, problem.k, problem.v, problem.dout)
    if problem.mask is not None and problem.mask.dtype != bool:
        yield problem.mask


@pytest.mark.parametrize("dtype", DTYPES)
@EITHER_WAY
def test_every_number_is_a_number_of_the_format(dtype: str, draw: Draws) -> None:
    for problem in draw(Problems(empty=True), Scope(dtype, KINDS), 150):
        for array in arrays(problem):
            assert (rounded(array, dtype) == array).all()


@pytest.mark.quick(
    "judged-float32-strict",
    "judged-float64-eager",
    "judged-float16-strict",
    "judged-float32-flash",
    "judged-float32-eager",
    "judged-float16-eager",
)
@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("dtype", DTYPES)
@EITHER_WAY
def test_nothing_that_a_correct_implementation_computes_overflows(
    dtype: str, grade: str, draw: Draws
) -> None:
    scope = Scope(dtype, KINDS, rounding=grade)  # type: ignore[arg-type]
    outside = [p for p in draw(Problems(empty=True), scope, 200) if not in_domain(p)]
    assert not outside


@EITHER_WAY
def test_lattice_problems_move_without_rounding(draw: Draws) -> None:
    for dtype in DTYPES:
        for problem in draw(Problems(families=("lattice", "ties")), Scope(dtype, KINDS), 60):
            for x in (problem.q + 4, problem.k - 4, 2 * problem.v, problem.v + problem.v[:, :, :1]):
                assert (rounded(x, dtype) == x).all()


def test_every_kind_of_problem_occurs() -> None:
    seen: Counter[object] = Counter()
    for problem in judged(Problems(empty=True, mixed=True), Scope("float16", KINDS), 600):
        seen.update(kinds_of(problem))
        seen.update([problem.memory])
        seen["idle"] += bool(problem.idle.any())
        seen["more keys"] += problem.N < problem.M
        seen["more queries"] += problem.N > problem.M
        seen["as many"] += problem.N == problem.M
        seen["zero scale"] += problem.scale == 0
        seen["negative scale"] += problem.scale is not None and problem.scale < 0
        seen["groups of 3"] += problem.H == 3 * problem.G
        seen["groups of 7"] += problem.H == 7 * problem.G
        seen["one key head"] += problem.H > problem.G == 1
        seen["width of one"] += problem.D == 1
        seen["batch is not heads"] += problem.B != problem.H
    wanted = [*KINDS, "idle", "more keys", "more queries", "as many", "zero scale"]
    wanted += ["negative scale", "groups of 3", "groups of 7", "one key head", "width of one"]
    wanted += ["batch is not heads", *get_args(Memory)]
    missing = [name for name in wanted if seen[name] < 5]
    assert not missing


def test_the_edges_of_tiles_and_long_axes_occur() -> None:
    lengths = Counter(p.M for p in judged(Problems(), Scope("float32", KINDS), 1500))
    assert not [edge for edge in EDGES if not lengths[edge]]
    assert any(lengths[length] for length in LONG)


@pytest.mark.parametrize("number", ["A1", "A7"])
def test_a_single_query_has_many_keys_as_often_as_is_said(number: str) -> None:
    domain = CLAUSES[number].over
    found = judged(domain, Scope("float32", KINDS), 400)
    alone = [p for p in found if p.N == 1 and p.M > 8]
    assert len(alone) > 0.8 * len(found) / domain.single
    assert sum(p.H > p.G > 1 for p in alone) > 0.15 * len(alone)
    square = judged(domain, Scope("float32", KINDS - {Capability.LENGTHS}), 60)
    assert all(p.N == p.M for p in square)


@EITHER_WAY
def test_options_are_asked_alone_and_two_by_two(draw: Draws) -> None:
    told = {
        "boolean": lambda p: p.mask is not None and p.mask.dtype == bool,
        "additive": lambda p: p.mask is not None and p.mask.dtype != bool,
        "causal": lambda p: p.causal,
        "scale": lambda p: p.scale is not None,
        "groups": lambda p: p.grouped,
        "widths": lambda p: p.E != p.D,
    }
    problems = draw(Problems(masks=EVERY, few=True), Scope("float32", KINDS), 2000)
    asked = Counter(frozenset(n for n, asks in told.items() if asks(p)) for p in problems)
    wanted = [{*pair} for pair in combinations_with_replacement(told, 2)]
    wanted.remove({"boolean", "additive"})
    assert not [pair for pair in wanted if not asked[frozenset(pair)]]


def test_masks_end_beyond_the_edges_of_tiles() -> None:
    domain = Problems(masks=ENDS, tiled="ends", causal=False, segments=False)
    ends = set()
    for p in judged(domain, Scope("float32", KINDS), 150):
        seen = p.allowed.any(axis=(0, 1, 2))
        ends.add((p.M, bool(seen[-1])))
        assert not p.idle.any()
    assert {M for M, _ in ends} == {65, 129, 257, 513, 1025, 1300}
    assert {shown for _, shown in ends} == {True, False}


@pytest.mark.parametrize(("tiled", "axis"), [("thousands", "M"), ("thousands of queries", "N")])
def test_a_thousand_and_more_are_long_along_one_axis(tiled: Tiled, axis: str) -> None:
    domain = Problems(masks=PLAIN, tiled=tiled, windows=False, segments=False)
    found = judged(domain, Scope("float32", KINDS), 60)
    assert {getattr(p, axis) for p in found} == {1025, 1300, 2049}
    assert max(getattr(p, "MN".replace(axis, "")) for p in found) == 5


@EITHER_WAY
def test_vast_scores_come_near_a_tenth_of_the_largest_number_and_overflow_nowhere(
    draw: Draws,
) -> None:
    for dtype, most in VAST.items():
        sizes = []
        for p in draw(Problems(families=("vast",), modest=True), Scope(dtype, KINDS), 40):
            k = np.repeat(p.k, p.H // p.G, axis=1).swapaxes(-1, -2)
            sizes.append(float((np.abs(p.q) @ np.abs(k)).max() * max(1.0, abs(p.sigma))))
        assert most / 4 < max(sizes) <= most


@EITHER_WAY
def test_every_broadcast_form_occurs(draw: Draws) -> None:
    domain = Problems(masks=BOOLEAN, least=(2, 2, 2, 2))
    shapes = {
        tuple(int(n) > 1 for n in p.mask.shape)
        for p in draw(domain, Scope("float32", KINDS), 500)
        if p.mask is not None
    }
    assert len(shapes) == len(FORMS)


@EITHER_WAY
def test_scores_reach_from_zero_to_a_hundred_thousand(draw: Draws) -> None:
    sizes = [
        float(np.abs(p.sigma * p.q @ np.repeat(p.k, p.H // p.G, 1).swapaxes(-1, -2)).max(initial=0))
        for p in draw(Problems(), Scope("float32", KINDS), 400)
    ]
    assert min(sizes) == 0
    assert sum(1e2 < s < 1e3 for s in sizes) >= 5
    assert max(sizes) > 5e4


# Positions may have all keys stand ahead of a query.
LIVE = Problems(masks=ANY, windows=False, segments=False, positions=False)


@EITHER_WAY
def test_live_masks_leave_no_query_idle(draw: Draws) -> None:
    for problem in draw(LIVE, Scope("float32", KINDS), 150):
        assert not problem.idle.any() or problem.M == 0


@pytest.mark.parametrize("kind", sorted(KINDS))
@EITHER_WAY
def test_what_is_not_answered_is_not_drawn(kind: str, draw: Draws) -> None:
    scope = Scope("float32", answers=KINDS - {kind})
    assert not [p for p in draw(Problems(empty=True), scope, 150) if kind in kinds_of(p)]


@EITHER_WAY
def test_only_the_core_is_drawn_for_who_answers_nothing_else(draw: Draws) -> None:
    scope = Scope("float32", answers=frozenset())
    core = {Capability.CAUSAL}  # whoever cannot see the future is always causal
    assert not [p for p in draw(Problems(empty=True), scope, 150) if kinds_of(p) != core]


def test_the_same_problems_are_drawn_every_time() -> None:
    first, second = (drawn(Problems(), Scope("float32", KINDS), 30) for _ in range(2))
    for one, two in zip(first, second, strict=True):
        for x, y in zip(arrays(one), arrays(two), strict=True):
            assert x.shape == y.shape
            assert (x == y).all()


def test_problems_shrink_to_one_key_and_zeros() -> None:
    smallest = find(
        problems(Problems(), Scope("float32", KINDS)),
        lambda problem: problem.N > 0,
        settings=settings(QUIET, phases=tuple(Phase)),
    )
    assert (smallest.B, smallest.H, smallest.N, smallest.M) == (1, 1, 1, 1)
    assert smallest.mask is None
    assert not smallest.causal
    assert not smallest.q.any()
    assert not smallest.v.any()


@given(st.sampled_from(sorted(FAMILIES)))
@QUIET
def test_a_family_draws_what_its_shapes_say(family: str) -> None:
    from spec.entries import entries

    shapes = ((2, 3, 5, 7), (2, 1, 11, 7), (2, 1, 11, 13), (2, 3, 5, 13))
    assert tuple(x.shape for x in entries(family, 0, shapes, dtype="float32")) == shapes


@EITHER_WAY
def test_moves_carry_the_mask_along(draw: Draws) -> None:
    for problem in draw(Problems(causal=False, least=(2, 2, 2, 2)), Scope("float32", KINDS), 150):
        keys, queries = ([1, 0] for _ in range(2))
        assert (moves.of_keys(problem, keys).allowed == problem.allowed[..., keys]).all()
        assert (moves.of_queries(problem, queries).allowed == problem.allowed[:, :, queries]).all()
        assert (moves.of_batch(problem, [1]).allowed == problem.allowed[[1]]).all()
        assert (moves.written_out(problem).allowed == problem.allowed).all()


def test_a_permutation_moves_something() -> None:
    for number in range(50):
        (problem,) = drawn(Problems(), Scope("float32", KINDS), 1)
        order = moves.permutation(problem.but(seed=number), 3)
        assert sorted(order) == [0, 1, 2]
        assert list(order) != [0, 1, 2]
