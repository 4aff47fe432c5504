"""Every mistake is wrong somewhere, no two are wrong alike, and the pipeline they spoil is right.

The problems are those of `tests.attention.awkward`.
"""

import sys
from collections.abc import Callable
from functools import cache
from typing import Any, get_args

import numpy as np
import pytest

from spec.attention import rounding
from spec.attention.conventions import CONVENTIONS
from spec.attention.mistakes import MISTAKES, appended, lengths, packed, paged, rings, served
from spec.attention.mistakes.making import RIGHT, Spoils, wrong
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.comparison import Violation, equal, holds
from spec.entries import eighths
from spec.mistake import Mistake, catalogue
from spec.notation import Array
from spec.subject import GRADIENTS, ROUNDING
from tests import incidents
from tests.attention.awkward import beside, draw, empty, family
from tests.night import deep

OF_TOKENS = ("query_positions", "key_positions", "query_segments", "key_segments")
# Who packs or reads from a cache is asked other problems than these: `test_carried` has theirs.
CARRIED = [*catalogue(lengths, packed, paged, served, appended, rings).values()]
OTHERS = [m for m in MISTAKES.values() if m not in CARRIED]
HARMFUL = [m for m in OTHERS if not m.harmless and m.force == "must"]
# Clauses about equal scores, and about slopes at distant positions, have tighter bounds.
ELSEWHERE = ("merges_halves_by_what_was_rounded", "adds_the_position_of_the_key_first")
HARMLESS = [m for m in OTHERS if m.harmless]


@cache
def asked(spoils: str, dtype: str) -> list[Problem]:
    """The family; of gradients also with a cotangent of the log-sum-exp."""
    found = [*family(dtype)]
    if spoils == "gradient":
        found += [p.but(dlse=2 * eighths(*p.dout.shape[:3])) for p in found]
    return found


@cache
def expected(problem: Problem, spoils: str) -> list[tuple[Array, Array]]:
    """What is right, and its budget, for every result that such a mistake may spoil."""
    want = rounding.reference(problem)
    if spoils == "weights":
        return [(want.weights, rounding.of_weights(problem))]
    if spoils == "lse":
        return [(want.lse, rounding.of_lse(problem))]
    if spoils != "gradient":
        return [(want.o, rounding.of_output(problem))]
    budget = rounding.of_gradients(problem)
    pairs = [(getattr(want.gradients, x), getattr(budget, x)) for x in "qkv"]
    if problem.mask is not None and problem.mask.dtype != bool:
        assert want.gradients.bias is not None
        assert budget.bias is not None
        shape = problem.mask.shape
        total = RIGHT.reduce(want.gradients.bias, shape)
        pairs.append((total, rounding.of_sum(want.gradients.bias, budget.bias, shape, problem)))
    if problem.sinks is not None:
        pairs.append((want.gradients.sinks, budget.sinks))
    if problem.slopes is not None:
        pairs.append((want.gradients.slopes, budget.slopes))
    return pairs


def results(mistake: Mistake, problem: Problem) -> list[Array]:
    """The results that a mistake may spoil."""
    record = implementation(mistake.target, backend="numpy")
    if mistake.spoils in ("weights", "lse", "training"):
        return [getattr(record, mistake.spoils)(problem)]
    if mistake.spoils != "gradient":
        return [record.forward(problem)]
    found = (record.backward if problem.dlse is None else record.lse_backward)(problem)
    gradients = [found.q, found.k, found.v]
    if problem.mask is not None and problem.mask.dtype != bool:
        gradients.append(called(vars(mistake.target)["bias_gradient"], problem, "dout"))
    if problem.sinks is not None:
        gradients.append(called(vars(mistake.target)["sink_gradient"], problem, "dout"))
    if problem.slopes is not None:
        gradients.append(called(vars(mistake.target)["slope_gradient"], problem, "dout"))
    return gradients


def called(function: Callable[..., Array], problem: Problem, *first: str) -> Array:
    """What a native function returns, as it returns it."""
    arrays = [getattr(problem, x).astype(problem.dtype) for x in (*first, "q", "k", "v")]
    mask = problem.mask
    if mask is not None and mask.dtype != bool:
        mask = mask.astype(problem.dtype)
    options = {"is_causal": problem.causal, "scale": problem.scale, "window_size": problem.window}
    options |= {"softcap": problem.softcap, "sinks": problem.sinks, "sink_size": problem.first}
    options["alibi_slopes"] = problem.slopes
    options |= {x: getattr(problem, x) for x in OF_TOKENS}
    options |= {"dlse": problem.dlse} if "dout" in first else {}
    return function(*arrays, mask, **options)


def judge(mistake: Mistake, problem: Problem) -> None:
    """Raise Violation if the mistake shows on this problem."""
    hold(results(mistake, problem), expected(problem, mistake.spoils))
    if mistake.spoils == "call":
        call = implementation(mistake.target, backend="numpy").call(problem)
        holds(not call.changed, f"changed {call.changed}")
        holds(not call.aliased, f"returned the memory of {call.aliased}")
        kept = called(mistake.target, problem)
        backward = getattr(mistake.target, "backward", None)
        if backward is not None:  # a pass may leave something behind for the next one
            called(backward, problem, "dout")
        hold(results(mistake, mirrored(problem)), expected(mirrored(problem), "call"))
        hold([kept], expected(problem, "call"))


def hold(found: list[Array], wanted: list[tuple[Array, Array]]) -> None:
    for got, (want, budget) in zip(found, wanted, strict=True):
        equal(got, want, within=budget)


@cache
def mirrored(problem: Problem) -> Problem:
    """Another problem of the same shapes."""
    return problem.but(k=-problem.k)


def shows(mistake: Mistake) -> bool:
    """Whether it shows on some problem of the family, or on one of those that are no part of it."""
    dtype = mistake.dtypes[0]
    for problem in (*asked(mistake.spoils, dtype), *empty(dtype), *beside(dtype)):
        try:
            judge(mistake, problem)
        except Violation:
            return True
    return False


def named(mistake: Mistake) -> str:
    return mistake.name


def right(spoils: Spoils) -> Mistake:
    """The program without a mistake, offering what a mistake does that `spoils` some result."""

    def does_it_right(*arguments: Any) -> Any:
        """Replaces a step by itself."""
        return RIGHT.weigh(*arguments)

    made: Mistake = wrong("weigh", incident="none", spoils=spoils)(does_it_right).mistake
    return made


@pytest.mark.parametrize("dtype", [deep("float64"), "float32", deep("float16")])
@pytest.mark.parametrize("spoils", [x for x in get_args(Spoils) if x != "rounding"])
def test_the_pipeline_is_right(spoils: Spoils, dtype: str) -> None:
    for problem in asked(spoils, dtype):
        judge(right(spoils), problem)


@pytest.mark.parametrize("spoils", ["forward", "gradient", "weights", "lse", "training"])
def test_the_pipeline_takes_sizes_of_zero(spoils: Spoils) -> None:
    for problem in empty("float32"):
        judge(right(spoils), problem)


@pytest.mark.parametrize("mistake", HARMLESS, ids=named)
def test_a_harmless_one_is_right(mistake: Mistake) -> None:
    for dtype in ("float64", "float32"):
        for problem in family(dtype):
            judge(mistake, problem)


# Each is refused by the clauses that name it (`tests.test_clauses_reject_mistakes`).
SHOWING = [m for m in HARMFUL if m.name not in ELSEWHERE]
LATER = [deep(m) for n, m in enumerate(SHOWING) if n % 8]


@pytest.mark.parametrize("mistake", [*SHOWING[::8], *LATER], ids=named)
def test_a_mistake_shows(mistake: Mistake) -> None:
    assert shows(mistake)


def test_what_is_wrong_behind_the_output_leaves_it_right() -> None:
    for mistake in HARMFUL:
        if mistake.spoils in ("gradient", "weights", "lse", "training"):
            for problem in family("float32")[::4]:
                hold([called(mistake.target, problem)], expected(problem, "forward"))


def test_a_forbidden_nan_is_multiplied_by_zero() -> None:
    mask = np.arange(7) != 3
    clean = draw(mask=mask)
    spoiled = clean.but(v=np.where(mask[:, None], clean.v, np.nan))
    attend = MISTAKES["multiplies_forbidden_values_by_zero"].target
    assert np.isnan(attend(spoiled.q, spoiled.k, spoiled.v, mask)).any()
    out = right("forward").target(spoiled.q, spoiled.k, spoiled.v, mask)
    hold([out], expected(clean, "forward"))


def test_a_live_nan_is_swallowed() -> None:
    problem = draw()
    q = problem.q.copy()
    q[0, 0, 2] = np.nan
    assert np.isnan(right("forward").target(q, problem.k, problem.v)[0, 0, 2]).all()
    assert np.isfinite(MISTAKES["swallows_nan"].target(q, problem.k, problem.v)).all()


@pytest.mark.parametrize(
    "spoils", [*map(deep, ("forward", "gradient", "weights", "lse")), "training", "rounding"]
)
def test_no_two_mistakes_are_wrong_alike(spoils: str) -> None:
    seen: dict[tuple[str, bytes], str] = {}
    for mistake in HARMFUL:
        if mistake.spoils == spoils:
            dtype = mistake.dtypes[0]
            put = (*asked(spoils, dtype), *beside(dtype)[: 1 if spoils == "rounding" else None])
            found = [x for p in put for x in results(mistake, p)]
            trace = b"".join(x.tobytes() for x in found)
            assert seen.setdefault((dtype, trace), mistake.name) == mistake.name


def test_every_mistake_says_what_it_is() -> None:
    known = incidents.entries(incidents.INCIDENTS.read_text())
    for name, mistake in MISTAKES.items():
        assert (mistake.target.__name__, mistake.sentence[-1]) == (name, ".")
        assert mistake.incident == "plausible" or mistake.incident in known
        assert mistake.harmless == (mistake.incident == "BUG-40")


def test_every_convention_is_somebodys_mistake() -> None:
    corners = ("window-alignment", "slopes-alignment")  # of windows and slopes
    apart = ("padding-rows", "padding-queries", *GRADIENTS, *ROUNDING, *corners)
    own = {name: choices for name, choices in CONVENTIONS.items() if name not in apart}
    assert own.pop("fully-masked-bias")[1:] == CONVENTIONS["fully-masked"]
    for name in corners:
        assert CONVENTIONS[name][1:] == CONVENTIONS["causal"]
    others = {(name, x) for name, choices in own.items() for x in choices[1:]}
    others |= {(name, CONVENTIONS["causal"][1]) for name in corners}
    assert {m.convention for m in OTHERS if m.convention} == others
    carried = {("causal", CONVENTIONS["causal"][0]), ("padding-rows", "untouched")}
    assert {m.convention for m in CARRIED if m.convention} == carried


def test_every_mistake_can_be_reached_by_its_name() -> None:
    for name, mistake in MISTAKES.items():
        assert getattr(sys.modules[mistake.target.__module__], name) is mistake.target
