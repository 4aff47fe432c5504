"""Sinks that are merged: o' sigmoid(lse - t), differentiated by autograd, is within the budgets.

gpt-oss runs on kernels that know no sinks so, from the output and the log-sum-exp that they return.
"""

from collections.abc import Callable

import numpy as np
import pytest

from spec.abilities import unchanged
from spec.attention import rounding
from spec.attention.notation import Problem
from spec.attention.plug import implementation
from spec.certification.target.recognising import recognised
from spec.notation import Array
from tests.attention.budget_shares import ratio
from tests.attention.rounding_problems import DTYPES_AND_GRADES, problem_of

torch = pytest.importorskip("torch")

Tensor = torch.Tensor
Share = Callable[[Tensor, Tensor], Tensor]


def gate(lse: Tensor, t: Tensor) -> Tensor:
    """The share of the keys, given their log-sum-exp and the sink."""
    return torch.sigmoid(lse - t)


def by_logarithm(lse: Tensor, t: Tensor) -> Tensor:
    """The same from its logarithm."""
    return torch.exp(torch.nn.functional.logsigmoid(lse - t))


def stored(lse: Tensor, t: Tensor) -> Tensor:
    """The same in 16 bits."""
    return gate(lse, t).to(torch.bfloat16)


def upside_down(lse: Tensor, t: Tensor) -> Tensor:
    """The share of the sink."""
    return torch.sigmoid(t - lse)


def counted_twice(lse: Tensor, t: Tensor) -> Tensor:
    """The share of the keys and a sink, beside another."""
    return torch.sigmoid(torch.logaddexp(lse, t) - t)


def without_lse(lse: Tensor, t: Tensor) -> Tensor:
    """The gate, whose gradient stops at the log-sum-exp."""
    return gate(lse.detach(), t)


def half_trained(lse: Tensor, t: Tensor) -> Tensor:
    """The gate, of which half the gradient comes to the sink."""
    return gate(lse, (t + t.detach()) / 2)


def sunk(seed: int, dtype: str, grade: str) -> Problem:
    """A problem with sinks about as large as its scores, on either side of them."""
    problem = problem_of(seed, dtype, grade)
    chance = np.random.default_rng(seed)
    size = 1 + np.abs(problem.bias[np.isfinite(problem.bias)]).max(initial=0.0)
    t = (size * chance.standard_normal(problem.H)).astype(np.float32)
    return problem.but(sinks=t.astype(np.float64))


def computed(problem: Problem, share: Share) -> dict[str, Array]:
    """o and its gradients, those of the sinks too."""
    wide = torch.float64 if problem.dtype == "float64" else torch.float32
    given = {x: getattr(problem, x) for x in ("q", "k", "v", "sinks")}
    leaves = {x: torch.tensor(y, dtype=wide, requires_grad=True) for x, y in given.items()}
    k, v = (leaves[x].repeat_interleave(problem.H // problem.G, 1) for x in "kv")
    s = leaves["q"] @ k.mT * problem.sigma + torch.tensor(problem.bias, dtype=wide)
    allowed = torch.tensor(np.broadcast_to(problem.allowed, tuple(s.shape)))
    idle = ~allowed.any(-1, keepdim=True)
    s = s.masked_fill(~allowed, -torch.inf).masked_fill(idle, 0.0)
    part = torch.softmax(s, -1).masked_fill(idle, 0.0) @ v
    w = share(torch.logsumexp(s, -1, keepdim=True), leaves["sinks"][:, None, None])
    o = (part * w.masked_fill(idle, 0.0)).to(getattr(torch, problem.dtype))
    o.backward(torch.tensor(problem.dout).to(o.dtype))
    found = {x: leaf.grad.to(wide if x == "sinks" else o.dtype) for x, leaf in leaves.items()}
    return {x: y.detach().double().numpy() for x, y in {"o": o, **found}.items()}


def shares(problem: Problem, share: Share) -> dict[str, float]:
    """The largest error of each, in units of its budget."""
    found, right = computed(problem, share), rounding.reference(problem)
    budget = rounding.of_gradients(problem)
    of = {x: (getattr(right.gradients, x), getattr(budget, x)) for x in ("q", "k", "v", "sinks")}
    of |= {"o": (right.o, rounding.of_output(problem))}
    return {x: ratio(found[x], want, within) for x, (want, within) in of.items()}


@pytest.mark.parametrize("share", [gate, by_logarithm])
@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_a_gated_output_stays_within_its_budgets(dtype: str, grade: str, share: Share) -> None:
    for seed in range(8):
        for what, part in shares(sunk(seed, dtype, grade), share).items():
            assert part <= 1, (seed, what, part)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_gate_may_be_stored_in_16_bits_if_eager(dtype: str) -> None:
    for seed in range(8):
        for what, part in shares(sunk(seed, dtype, "eager"), stored).items():
            assert part <= 1, (seed, what, part)


@pytest.mark.parametrize("share", [upside_down, counted_twice, without_lse, half_trained])
@pytest.mark.parametrize(("dtype", "grade"), DTYPES_AND_GRADES)
def test_another_gate_is_outside(dtype: str, grade: str, share: Share) -> None:
    assert any(max(shares(sunk(x, dtype, grade), share).values()) > 1 for x in range(12))


def by_two_lse(lse: Tensor, t: Tensor) -> Tensor:
    """The share of the keys, as Transformers has it with FlexAttention."""
    return torch.exp(lse - torch.logaddexp(lse, t))


def merging(share: Share) -> Callable[..., Tensor]:
    """An attention function with such sinks."""

    def attend(query: Tensor, key: Tensor, value: Tensor, sinks: Tensor | None = None) -> Tensor:
        s = query @ key.mT * query.shape[-1] ** -0.5
        o = torch.softmax(s, -1) @ value
        if sinks is not None:
            o = o * share(torch.logsumexp(s, -1, keepdim=True), sinks[:, None, None])
        return o

    return attend


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    ("share", "choices"),
    [
        (by_two_lse, {"parts": "merged"}),
        (gate, {}),
        (by_logarithm, {}),
        (counted_twice, {}),
        (upside_down, {}),
    ],
)
def test_a_sink_that_is_merged_by_two_log_sum_exp_is_recognised(
    share: Share, choices: dict[str, str], dtype: str
) -> None:
    record = implementation(merging(share), backend="torch")
    assert recognised(record, dtype, {}, unchanged).choices == choices
