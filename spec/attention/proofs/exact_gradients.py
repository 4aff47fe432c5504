"""Laws of the gradients, run through the definition's closed form in fractions.

Those proved by derivatives (`any_number_of_keys`, `at_sizes`) are checked here without any,
at larger sizes, with groups, masks and idle queries together.
"""

from __future__ import annotations

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.attention.proofs.exactly import keys, queries
from spec.attention.proofs.examples import exactly, integers
from spec.notation import Array
from spec.proving.exact import fractions


def by_key_head(x: Array, problem: Problem) -> Array:
    """The heads that share a key head, laid end to end: (B, H, N, ...) to (B, G, H/G N, ...)."""
    return x.reshape(problem.B, problem.G, -1, x.shape[-1])


def products(x: Array, y: Array) -> Array:
    """x^T y in every head."""
    return x.swapaxes(-1, -2) @ y


@exactly(upto=-1)
def key_gradients_add_to_nothing(problem: Problem, upto: int | None = None) -> Array:
    """sum_j dk_j = 0. The control loses the last key."""
    return definition.gradients(problem).k[:, :, :upto].sum(axis=2)


@exactly(upto=-1)
def bias_gradients_add_to_nothing(problem: Problem, upto: int | None = None) -> Array:
    """sum_j db_ij = 0. The control loses the last key."""
    return definition.score_gradients(problem)[..., :upto].sum(axis=-1)


@exactly(live_only=False)
def value_gradients_add_to_the_cotangents(problem: Problem, live_only: bool = True) -> Array:
    """sum_j dv_j = sum of dout over the live queries. The control counts idle ones too."""
    live = np.logical_not(problem.idle)[..., None].astype(int) if live_only else 1
    cotangents = by_key_head(problem.dout * live, problem).sum(axis=2)
    return definition.gradients(problem).v.sum(axis=2) - cotangents


@exactly(transpose=False)
def query_and_key_gradients_mirror(problem: Problem, transpose: bool = True) -> Array:
    """q^T dq = (k^T dk)^T in every key head. The control forgets to transpose."""
    gradients = definition.gradients(problem)
    of_queries = products(by_key_head(problem.q, problem), by_key_head(gradients.q, problem))
    of_keys = products(problem.k, gradients.k)
    return of_queries - (of_keys.swapaxes(-1, -2) if transpose else of_keys)


@exactly(transpose=False)
def value_gradients_and_output_mirror(problem: Problem, transpose: bool = True) -> Array:
    """v^T dv = o^T dout in every key head. The control transposes one of them."""
    o = by_key_head(definition.attention(problem), problem)
    of_output = products(o, by_key_head(problem.dout, problem))
    of_values = products(problem.v, definition.gradients(problem).v)
    return of_values - (of_output if transpose else of_output.swapaxes(-1, -2))


@exactly(step=2)
def value_gradients_are_differences(problem: Problem, step: int = 1) -> Array:
    """L(v + h) - L(v) = <dv, h>, for L is linear in v. The control takes two steps for one."""
    h = fractions(integers(problem.chance(), *problem.v.shape))
    there, here = problem.but(v=problem.v + step * h), problem
    change = definition.attention(there) - definition.attention(here)
    return (problem.dout * change).sum(keepdims=True) - (definition.gradients(here).v * h).sum()


@exactly(inverse=False)
def gradients_follow_the_order_of_keys(problem: Problem, inverse: bool = True) -> Array:
    """Permuting the keys permutes dk and dv. The control compares them unpermuted."""
    order = np.roll(np.arange(problem.M), 1)
    moved, here = definition.gradients(keys(problem, order)), definition.gradients(problem)
    back = order if inverse else slice(None)
    return np.concatenate([moved.k - here.k[:, :, back], moved.v - here.v[:, :, back]], axis=-1)


@exactly(added=False)
def gradients_of_shared_heads_add_up(problem: Problem, added: bool = True) -> Array:
    """dk and dv of a key head are the sums over its copies. The control takes the first copy."""
    k, v = (definition.shared(x, problem.H) for x in (problem.k, problem.v))
    copies, here = definition.gradients(problem.but(k=k, v=v)), definition.gradients(problem)
    group = problem.H // problem.G
    if not added:
        return copies.k[:, ::group] - here.k
    return np.concatenate(
        [
            definition.gathered(copies.k, problem.G) - here.k,
            definition.gathered(copies.v, problem.G) - here.v,
        ],
        axis=-1,
    )


@exactly(causal=True, reach=1)
def the_past_learns_nothing_from_the_future(problem: Problem, reach: int = 0) -> Array:
    """dk_j comes from queries i >= j alone. The control: from i > j."""
    dk, last = definition.gradients(problem).k, problem.M - 1
    later = queries(problem, slice(last + reach, None))
    return definition.gradients(later).k[:, :, last] - dk[:, :, last]


@exactly(causal=True, query=1)
def the_first_query_learns_nothing(problem: Problem, query: int = 0) -> Array:
    """dq_0 = 0 with causality. The control looks at query 1."""
    return definition.gradients(problem).q[:, :, query]


@exactly(everywhere=True)
def nothing_is_learned_from_the_forbidden(problem: Problem, everywhere: bool = False) -> Array:
    """db_ij = 0 where key j is forbidden to query i. The control: everywhere."""
    forbidden = np.logical_not(problem.allowed) | everywhere
    return definition.score_gradients(problem) * forbidden.astype(int)
