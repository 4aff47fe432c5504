"""Every mistake is wrong somewhere, no two are wrong alike, and the pipeline they spoil is right.

The family of problems is fixed and awkward: what makes a mistake show is in at
least one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from spec import rounding
from spec.backends import implementation
from spec.clause import Violation, equal, holds
from spec.implementation import Implementation
from spec.mistakes import MISTAKES, MODULES, Mistake
from spec.mistakes.mistake import wrong
from spec.mistakes.pipeline import RIGHT
from spec.notation import CONVENTIONS, Array, Problem

HARMFUL = [m for m in MISTAKES.values() if not m.harmless and m.force == "must"]
HARMLESS = [m for m in MISTAKES.values() if m.harmless]


def draw(
    B: int = 2,
    H: int = 4,
    G: int = 4,
    N: int = 5,
    M: int = 7,
    D: int = 6,
    E: int = 3,
    size: float = 1.0,
    **options: Any,
) -> Problem:
    """A problem of normal numbers; q is `size` times larger."""
    chance = np.random.default_rng([B, H, G, N, M, D, E])
    shapes = {"q": (B, H, N, D), "k": (B, G, M, D), "v": (B, G, M, E), "dout": (B, H, N, E)}
    arrays = {name: chance.standard_normal(shape) for name, shape in shapes.items()}
    arrays["q"] *= size
    return Problem(**{**arrays, **options})


def permits(*shape: int, live: bool = True) -> Array:
    """A random boolean mask; every row keeps a key if `live`."""
    mask = np.random.default_rng(shape).random(shape) < 0.6
    mask[..., 1] |= live
    return mask


def biases(*shape: int) -> Array:
    """An additive mask with finite numbers, and -inf where a fifth of them was."""
    chance = np.random.default_rng(shape)
    mask = chance.standard_normal(shape)
    mask[chance.random(shape) < 0.2] = -np.inf
    mask[..., 1] = 0.5
    return mask


def idle_rows() -> Array:
    """Idle queries at the start of one head, and in the middle of another."""
    mask = permits(2, 4, 5, 7)
    mask[0, 0, :2] = mask[1, 2, 3] = False
    return mask


def far_below() -> Problem:
    """Every score is near -62500, and every key but the first two may be forbidden."""
    mask = np.broadcast_to(np.arange(7) < 2, (5, 7))
    problem = draw(D=1, mask=mask)
    return problem.but(q=np.full_like(problem.q, 250.0), k=np.sign(problem.k) - 250.0, scale=1.0)


def ascending() -> Problem:
    """Later keys score higher, by more than the exponential can take."""
    problem = draw(B=1, H=2, G=1, N=3, M=100, D=1)
    k = np.broadcast_to(np.arange(100.0)[:, None], problem.k.shape)
    return problem.but(q=1 + np.abs(problem.q), k=2 * k)


def awkward() -> Iterator[Problem]:
    yield draw()
    yield draw(size=30.0)
    yield draw(N=6, M=6, E=6)
    yield draw(N=7, M=5, H=2, G=2, D=1, E=1)
    yield draw(H=6, G=2)
    yield draw(H=6, G=2, N=6, M=6, causal=True, memory="transposed")
    yield draw(H=3, G=3, N=9, M=1, memory="expanded")
    yield draw(N=1, M=1)
    yield draw(B=1, H=1, G=1, N=6, M=11, causal=True, memory="offset")
    yield draw(N=8, M=5, causal=True)
    yield draw(D=70, E=10, memory="strided")
    yield draw(N=2, M=33)
    yield draw(N=40, M=64, H=2, G=1, causal=True)
    yield draw(N=3, M=130, B=1, size=4.0)
    yield draw(B=3, H=2, G=2, N=130, M=4, mask=permits(130, 4))
    yield ascending()
    yield far_below()
    yield from (draw(scale=scale) for scale in (0.0, -0.7, 0.3, 2.0))
    yield from masked()


def masked() -> Iterator[Problem]:
    yield draw(mask=permits(2, 4, 5, 7))
    yield draw(mask=permits(2, 4, 5, 7), size=30.0)
    yield draw(mask=permits(2, 1, 5, 7), causal=True)
    yield draw(mask=permits(4, 5, 7, live=False), causal=True)
    yield draw(N=7, mask=permits(2, 1, 1, 7), H=6, G=3)
    yield draw(N=7, mask=permits(7, 7), causal=True)
    yield draw(mask=np.repeat(np.arange(7) < 3, 5).reshape(7, 5).T)
    yield draw(mask=idle_rows())
    yield draw(mask=idle_rows(), size=30.0)
    yield draw(N=7, mask=biases(2, 1, 7, 7))
    yield draw(mask=biases(5, 7), causal=True, scale=0.3)
    yield draw(mask=np.maximum(biases(4, 1, 7), -3.0), size=3.0)


def empty() -> Iterator[Problem]:
    for axis in "BNME":
        yield draw(**{axis: 0})
    yield draw(M=0, mask=np.ones((5, 0), dtype=bool))


@cache
def family(dtype: str) -> tuple[Problem, ...]:
    """The awkward problems, in numbers of `dtype`; in 16 bits only those that fit."""
    found = [in_format(problem, dtype) for problem in awkward()]
    return tuple(problem for problem in found if rounding.in_domain(problem))


def in_format(problem: Problem, dtype: str) -> Problem:
    arrays = {name: getattr(problem, name) for name in ("q", "k", "v", "dout", "mask")}
    return problem.but(
        dtype=dtype,
        **{
            name: rounding.rounded(x, dtype)
            for name, x in arrays.items()
            if x is not None and x.dtype != bool
        },
    )


@cache
def expected(problem: Problem, kind: str) -> list[tuple[Array, Array]]:
    """What is right, and its budget, for every result that a mistake of `kind` may spoil."""
    want = rounding.reference(problem)
    if kind == "weights":
        return [(want.weights, rounding.of_weights(problem))]
    if kind == "lse":
        return [(want.lse, rounding.of_lse(problem))]
    if kind != "gradient":
        return [(want.o, rounding.of_output(problem))]
    budget = rounding.of_gradients(problem)
    pairs = [(getattr(want.gradients, x), getattr(budget, x)) for x in "qkv"]
    if problem.mask is not None and problem.mask.dtype != bool:
        assert want.gradients.bias is not None
        assert budget.bias is not None
        shape = problem.mask.shape
        total = RIGHT.reduce(want.gradients.bias, shape)
        pairs.append((total, rounding.of_sum(want.gradients.bias, budget.bias, shape, problem)))
    return pairs


def results(record: Implementation, mistake: Mistake, problem: Problem) -> list[Array]:
    """The results that a mistake of this kind may spoil."""
    if mistake.kind == "weights":
        return [record.weights(problem)]
    if mistake.kind == "lse":
        return [record.lse(problem)]
    if mistake.kind != "gradient":
        return [record.forward(problem)]
    found = record.backward(problem)
    gradients = [found.q, found.k, found.v]
    if problem.mask is not None and problem.mask.dtype != bool:
        gradients.append(bias_gradient(mistake, problem))
    return gradients


def bias_gradient(mistake: Mistake, problem: Problem) -> Array:
    arrays = [getattr(problem, x).astype(problem.dtype) for x in ("dout", "q", "k", "v", "mask")]
    function: Callable[..., Array] = vars(mistake.attend)["bias_gradient"]
    return function(*arrays, is_causal=problem.causal, scale=problem.scale)


def judge(mistake: Mistake, problem: Problem) -> None:
    """Raise Violation if the mistake shows on this problem."""
    record = implementation(mistake.attend, backend="numpy")
    for number in range(2 if mistake.kind == "call" else 1):
        asked = problem if number == 0 else mirrored(problem)
        found = results(record, mistake, asked)
        for got, (want, budget) in zip(found, expected(asked, mistake.kind), strict=True):
            equal(got, want, within=budget)
    if mistake.kind == "call":
        call = record.call(problem)
        holds(not call.changed, f"changed {call.changed}")
        holds(not call.aliased, f"returned the memory of {call.aliased}")


@cache
def mirrored(problem: Problem) -> Problem:
    """Another problem of the same shapes."""
    return problem.but(k=-problem.k)


def shows(mistake: Mistake) -> list[Problem]:
    """The problems of the family on which the mistake shows."""
    found = []
    for problem in family(mistake.dtypes[0]):
        try:
            judge(mistake, problem)
        except Violation:
            found.append(problem)
    return found


def right(kind: str) -> Mistake:
    """The pipeline without a mistake, offering what a mistake of `kind` does."""

    def does_it_right(*arguments: Any) -> Any:
        """Replaces a step by itself."""
        return RIGHT.weigh(*arguments)

    return wrong("weigh", incident="none", kind=kind)(does_it_right).mistake


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("kind", ["forward", "gradient", "weights", "lse", "call"])
def test_the_pipeline_is_right(kind: str, dtype: str) -> None:
    for problem in family(dtype):
        judge(right(kind), problem)


@pytest.mark.parametrize("kind", ["forward", "gradient", "weights", "lse"])
def test_the_pipeline_takes_sizes_of_zero(kind: str) -> None:
    for problem in empty():
        judge(right(kind), in_format(problem, "float32"))


@pytest.mark.parametrize("mistake", HARMLESS, ids=str)
def test_a_harmless_one_is_right(mistake: Mistake) -> None:
    for dtype in ("float64", "float32"):
        for problem in family(dtype):
            judge(mistake, problem)


@pytest.mark.parametrize("mistake", HARMFUL, ids=str)
def test_a_mistake_shows(mistake: Mistake) -> None:
    if mistake.name != "returns_the_same_buffer_again":  # which shows in no single answer
        assert shows(mistake)


def test_an_answer_is_overwritten_by_the_next_one() -> None:
    first = draw()
    attend = MISTAKES["returns_the_same_buffer_again"].attend
    out = attend(first.q, first.k, first.v)
    equal(out, *expected(first, "forward")[0][:1], within=expected(first, "forward")[0][1])
    attend(first.q, -first.k, first.v)
    with pytest.raises(Violation):
        equal(out, expected(first, "forward")[0][0], within=expected(first, "forward")[0][1])


def test_a_forbidden_nan_is_multiplied_by_zero() -> None:
    mask = np.arange(7) != 3
    clean = draw(mask=mask)
    spoiled = clean.but(v=np.where(mask[:, None], clean.v, np.nan))
    attend = MISTAKES["multiplies_forbidden_values_by_zero"].attend
    assert np.isnan(attend(spoiled.q, spoiled.k, spoiled.v, mask)).any()
    out = right("forward").attend(spoiled.q, spoiled.k, spoiled.v, mask)
    equal(out, expected(clean, "forward")[0][0], within=expected(clean, "forward")[0][1])


def test_a_live_nan_is_swallowed() -> None:
    problem = draw()
    q = problem.q.copy()
    q[0, 0, 2] = np.nan
    assert np.isnan(right("forward").attend(q, problem.k, problem.v)[0, 0, 2]).all()
    assert np.isfinite(MISTAKES["swallows_nan"].attend(q, problem.k, problem.v)).all()


@pytest.mark.parametrize("kind", ["forward", "gradient", "weights", "lse", "rounding"])
def test_no_two_mistakes_are_wrong_alike(kind: str) -> None:
    seen: dict[tuple[str, bytes], str] = {}
    for mistake in HARMFUL:
        if mistake.kind == kind:
            record = implementation(mistake.attend, backend="numpy")
            dtype = mistake.dtypes[0]
            found = [x for p in family(dtype) for x in results(record, mistake, p)]
            trace = b"".join(x.tobytes() for x in found)
            assert seen.setdefault((dtype, trace), mistake.name) == mistake.name


def test_every_mistake_says_what_it_is() -> None:
    for name, mistake in MISTAKES.items():
        assert mistake.attend.__name__ == name
        assert mistake.sentence.endswith(".")
        assert mistake.incident == "plausible" or mistake.incident[0] in "CS"
        assert mistake.harmless == (mistake.incident == "C40")


def test_every_convention_is_somebodys_mistake() -> None:
    others = {(name, x) for name, choices in CONVENTIONS.items() for x in choices[1:]}
    assert {m.convention for m in MISTAKES.values() if m.convention} == others


def test_every_mistake_can_be_reached_by_its_name() -> None:
    modules = {module.__name__: module for module in MODULES}
    for name, mistake in MISTAKES.items():
        assert getattr(modules[mistake.attend.__module__], name) is mistake.attend
