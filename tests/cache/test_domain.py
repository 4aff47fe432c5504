"""Texts, steps and chunks, and the definition of a cache beside one pass of torch."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implementations.cached import Growing
from spec import CLAUSES, about
from spec.attention.plug import implementation
from spec.attention.rounding import of_output
from spec.cache import rounding
from spec.cache.definition import DEFINITION
from spec.cache.domain import Texts
from spec.cache.notation import Chunk, Problem
from spec.cache.plug import cache
from spec.cache.reading import (
    alone,
    arriving,
    at_once,
    going_on_otherwise,
    one_by_one,
    read,
    reading,
    reading_in_part,
)
from spec.cache.record import KINDS, Capability
from spec.certification.judging.drawing import series
from spec.comparison import equal
from spec.domain import Scope
from spec.exploring import problems
from spec.formats import rounded
from spec.notation import DTYPES
from spec.trial import broken as broken_by
from tests.attention.in_domain import in_domain


def example(seed: int = 0, *, B: int = 3, N: int = 7, M: int = 4, **changes: Any) -> Problem:
    """No two axes of the same size; the sequences have lengths of their own."""
    chance = np.random.default_rng(seed)
    sizes = {"q": (6, 5), "k": (2, 5), "v": (2, 9)}
    drawn: dict[str, Any] = {
        f"{name}{text}": chance.integers(-32, 33, (B, heads, length, width)) / 16
        for text, length in (("", N), ("_other", M))
        for name, (heads, width) in sizes.items()
    }
    arrivals, lengths = chance.integers(0, 3, (3, B)), chance.integers(1, N + 1, B)
    return Problem(**drawn, arrivals=arrivals, lengths=lengths, seed=seed).but(**changes)


@pytest.mark.torch
def test_the_definition_is_one_pass_of_torch() -> None:
    sdpa = implementation(import_module("oracles.sdpa").math)
    for seed in range(5):
        problem = example(seed)
        one_pass = rounding.one_pass(problem)
        within = rounding.of_reading(problem) + of_output(one_pass)
        want = np.where(problem.real, sdpa.forward(one_pass), 0)
        equal(reading(DEFINITION, problem), want, within=within)


def test_steps_add_up_to_the_lengths_whatever_arrives() -> None:
    for seed in range(20):
        problem = example(seed)
        assert (arriving(problem).sum(axis=0) == problem.ends).all()
        for t in range(problem.N + 1):
            place = np.minimum(t, problem.ends)
            on_the_way = [problem.steps(0 * place, place), problem.steps(place, problem.ends)]
            assert (sum(steps.sum(axis=0) for steps in on_the_way) == problem.ends).all()
            assert all(steps.any(axis=1).all() for steps in on_the_way)


def test_a_problem_that_was_cut_along_any_axis_is_a_problem() -> None:
    """What the search for smaller counterexamples does."""
    problem = example()
    for letter in "BTNMDE":
        changes = {
            name: getattr(problem, name).take([0], axis=axes.split().index(letter))
            for name, axes in Problem.axes.items()
            if letter in axes.split()
        }
        smaller = problem.but(**changes)
        assert not breaks(smaller)


def breaks(problem: Problem) -> list[str]:
    """The clauses that a right cache breaks on a problem; some are about two tokens at least."""
    record, two = cache(Growing), {"C18", "C19", "C20", "C21", "C22", "C47"}
    bound = [clause for clause in about("cache").values() if clause.binds(record)]
    asked = [clause for clause in bound if problem.N > 1 or clause.number not in two]
    return [clause.id for clause in asked if broken_by(clause, record, problem) is not None]


def test_a_text_that_goes_on_otherwise_is_both_texts_spliced() -> None:
    problem = example()
    places = np.array([0, 2, 1])
    spliced = going_on_otherwise(problem, places)
    for b, place in enumerate(places):
        want = np.concatenate([problem.k[b, :, :place], problem.k_other[b]], axis=1)
        assert (spliced.k[b, :, : want.shape[1]] == want).all()
        assert spliced.lengths[b] == want.shape[1]


def test_padding_is_no_text() -> None:
    problem = example(lengths=np.array([7, 2, 5]))
    o, state = read(
        DEFINITION, DEFINITION.begin(problem), problem.text, at_once(0 * problem.ends, problem.ends)
    )
    assert [k.shape[1] for k, _ in state.kept] == [7, 2, 5]
    assert not o[1, :, 2:].any()
    assert o[1, :, :2].any()


def test_the_first_queries_of_a_step_have_their_answers_and_no_others_have_any() -> None:
    """Fewer than all where there are several, and at times more than one."""
    seen = set()
    for seed in range(20):
        problem = example(seed, B=1, lengths=np.array([7]))
        o, asked = reading_in_part(DEFINITION, problem)
        assert (o == np.where(asked, reading(DEFINITION, problem), 0)).all()
        assert not (asked & ~problem.real).any()
        ends = np.cumsum(arriving(problem))
        for few in np.split(asked.ravel(), ends[:-1]):
            assert (few == (np.arange(few.size) < few.sum())).all()
            assert few.all() == (few.size == 1)
            seen.add(int(few.sum()))
    assert len(seen) > 1


def test_one_by_one_leaves_out_who_has_nothing_left() -> None:
    steps = one_by_one(np.array([0, 1]), np.array([3, 2]))
    assert steps.tolist() == [[1, 1], [1, 0], [1, 0]]


@given(st.data())
@settings(max_examples=40, deadline=None, database=None)
def test_what_is_drawn_lies_in_scope(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from(("float64", "float16", "bfloat16")))
    answers = frozenset(data.draw(st.sets(st.sampled_from((Capability.GROUPS, Capability.RAGGED)))))
    problem = data.draw(problems(Texts(), Scope(dtype, answers, reach="quick")))
    assert DEFINITION.kinds_of(problem) <= answers
    assert in_domain(rounding.one_pass(problem))
    for name in "qkv":
        assert (rounded(getattr(problem, name), dtype) == getattr(problem, name)).all()
    assert (alone(problem, problem.B - 1).ends == problem.ends[-1:]).all()


def test_a_chunk_always_comes_after_single_tokens_that_went_round_the_ring() -> None:
    """In every second problem of the clause; it is no longer than the window."""
    for dtype in DTYPES:
        drawn = [*series(CLAUSES["C42"], Scope(dtype, KINDS, reach="quick"), 8, 0)]
        assert sum(map(wraps, drawn)) >= 4


def wraps(problem: Problem) -> bool:
    """Whether single tokens turn the ring to where its first key is not the oldest."""
    counts, W = arriving(problem)[:, 0], problem.window or problem.N
    chunk = next((t for t, n in enumerate(counts) if t and n > 1), 0)
    past = int(counts[:chunk].sum())
    return past > W and past % W > 0 and counts[chunk] <= W


def test_windows_are_drawn_beside_a_rollback_and_beside_a_fork() -> None:
    for number in ("C23", "C24", "C25", "C28", "C29"):
        drawn = [*series(CLAUSES[number], Scope("float32", KINDS), 40, 0)]
        assert {p.window is None for p in drawn} == {True, False}
        without = series(CLAUSES[number], Scope("float32", KINDS - {Capability.WINDOW}), 40, 0)
        assert all(p.window is None for p in without)


def test_a_chunk_knows_whether_it_is_padded() -> None:
    q = np.zeros((2, 1, 3, 1))
    assert Chunk(q, q, q, np.array([3, 3])).even
    assert Chunk(q[:, :, :1], q, q, np.array([3, 3])).even
    assert not Chunk(q, q, q, np.array([3, 2])).even
