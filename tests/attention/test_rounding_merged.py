"""Budgets hold what is computed in parts and merged, forward and backward, and not much else.

A part is a softmax of some keys in torch, and autograd goes through the merges.
"""

from collections.abc import Callable

import numpy as np
import pytest

from spec.attention import rounding
from spec.attention.notation import Problem
from spec.notation import Array
from tests.attention.budget_shares import ratio
from tests.attention.rounding_problems import problem_of

torch = pytest.importorskip("torch")

Tensor = torch.Tensor
State = tuple[Tensor, Tensor]
Merge = Callable[[list[State]], State]
LN2 = float(np.log(2))


def divided(states: list[State]) -> State:
    """All at once, by a sum of exponentials."""
    o, lse = (torch.stack(x) for x in zip(*states, strict=True))
    e = torch.exp(lse - lse.max(0).values.detach())
    return (e * o).sum(0) / e.sum(0), torch.logsumexp(lse, 0)


def rescaled(states: list[State]) -> State:
    """All at once, by exp(l_n - l) of an l that was rounded."""
    o, lse = (torch.stack(x) for x in zip(*states, strict=True))
    whole = torch.logsumexp(lse, 0)
    return (torch.exp(lse - whole) * o).sum(0), whole


def in_bits(states: list[State]) -> State:
    """The same by powers of two, of numbers that are put in bits and back."""
    o, lse = (torch.stack(x) for x in zip(*states, strict=True))
    bits = lse / LN2
    top = bits.max(0).values.detach()
    whole = top + torch.log2(torch.exp2(bits - top).sum(0))
    return (torch.exp2(bits - whole) * o).sum(0), whole * LN2


def by_sigmoid(states: list[State]) -> State:
    """Two, as ring attention does: o - sigmoid(l_2 - l_1) (o - o_2)."""
    (o, lse), (o_2, lse_2) = states
    share = torch.sigmoid(lse_2 - lse)
    return o - share * (o - o_2), lse - torch.nn.functional.logsigmoid(lse - lse_2)


def in_a_chain(merge: Merge) -> Merge:
    """One after another."""

    def merged(states: list[State]) -> State:
        so_far, *others = states
        for state in others:
            so_far = merge([so_far, state])
        return so_far

    return merged


def as_a_tree(merge: Merge) -> Merge:
    """Two by two, until one is left."""

    def merged(states: list[State]) -> State:
        while len(states) > 1:
            twos = [states[i : i + 2] for i in range(0, len(states), 2)]
            states = [merge(two) if len(two) == 2 else two[0] for two in twos]
        return states[0]

    return merged


WAYS: dict[str, tuple[int, Merge]] = {
    "at once": (16, divided),
    "at once, by what was rounded": (16, rescaled),
    "two by two": (16, as_a_tree(rescaled)),
    "one by one": (5, in_a_chain(divided)),
    "one by one, in bits": (5, in_a_chain(in_bits)),
    "two by two, by a sigmoid": (16, as_a_tree(by_sigmoid)),
}


def parts(problem: Problem, most: int) -> list[Array]:
    """The keys, each in one of several parts."""
    where = problem.chance().integers(0, min(most, problem.M), problem.M)
    return [np.flatnonzero(where == n) for n in np.unique(where)]


def computed(problem: Problem, most: int, merge: Merge) -> dict[str, Array]:
    """o and the three gradients."""
    dtype = getattr(torch, problem.dtype)
    inputs = problem.q, problem.k, problem.v
    q, k, v = (torch.tensor(x, dtype=dtype, requires_grad=True) for x in inputs)
    group = problem.H // problem.G
    keys, values = (x.repeat_interleave(group, 1) for x in (k, v))
    bias = torch.tensor(problem.bias, dtype=dtype)
    states = []
    for part in parts(problem, most):
        s = q @ keys[:, :, part].mT * problem.sigma + bias[..., part]
        lse = torch.logsumexp(s, -1, keepdim=True)
        states.append((torch.softmax(s, -1) @ values[:, :, part], lse))
    o, _ = merge(states)
    o.backward(torch.tensor(problem.dout, dtype=dtype))
    found = {"o": o, "q": q.grad, "k": k.grad, "v": v.grad}
    return {name: x.detach().numpy().astype(np.float64) for name, x in found.items()}


def shares(problem: Problem, found: dict[str, Array]) -> dict[str, float]:
    """The largest error of each, in units of its budget."""
    right, budget = rounding.reference(problem), rounding.of_gradients(problem)
    wanted = {"o": (right.o, rounding.of_output(problem))}
    wanted |= {x: (getattr(right.gradients, x), getattr(budget, x)) for x in "qkv"}
    return {x: ratio(found[x], want, within) for x, (want, within) in wanted.items()}


def problems(dtype: str, seeds: int) -> list[Problem]:
    """Of every kind but those that hide keys: a part may be empty, which is another matter."""
    found = (problem_of(seed, dtype, largest=24) for seed in range(seeds))
    return [p.but(merged=True) for p in found if p.allowed.all() and not p.causal]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_merged_parts_stay_within_their_budgets(dtype: str, way: str) -> None:
    most, merge = WAYS[way]
    for problem in problems(dtype, 60):
        for what, share in shares(problem, computed(problem, most, merge)).items():
            if what == "o" or "sigmoid" not in way:  # nobody differentiates through that
                assert share <= 1, (problem.seed, what, share)


def test_who_declares_nothing_is_granted_nothing() -> None:
    """A budget of merged parts is wider for each result, and that of the usual kind as it was."""
    for merged in problems("float32", 12):
        usual = merged.but(merged=False)
        assert (rounding.of_output(merged) >= rounding.of_output(usual)).all()
        one, other = rounding.of_gradients(merged), rounding.of_gradients(usual)
        assert all((getattr(one, x) >= getattr(other, x)).all() for x in "qkv")


def test_parts_by_a_base_that_is_another_are_not_granted() -> None:
    """A merge by powers of two of natural logarithms is seen wherever parts differ at all."""

    def wrong(states: list[State]) -> State:
        o, lse = (torch.stack(x) for x in zip(*states, strict=True))
        share = torch.softmax(lse * LN2, 0)
        return (share * o).sum(0), torch.logsumexp(lse, 0)

    seen = [shares(p, computed(p, 5, wrong))["o"] > 1 for p in problems("float32", 60) if p.M > 4]
    assert np.mean(seen) > 0.8
