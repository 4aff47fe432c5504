"""Theorems about the definition itself, for all numbers at small sizes.

The gradients in `spec.attention.definition` are a closed form. Here the loss that its `attention`
gives is differentiated by every symbol, and the two are compared. The identities that
follow from the symmetries of attention are proved of the closed form.
"""

from typing import Any

import numpy as np

from spec.attention import definition
from spec.attention.notation import Problem
from spec.notation import Array
from spec.proving.formulas import Formulas, derivatives, residual, symbols
from spec.proving.theorem import proved_at

Pairs = tuple[tuple[int, int], ...]  # of a query and a key

SIZES = "2 queries, 3 keys, widths 2 and 2, any bias, one key forbidden to one query"
GROUPED = "2 query heads on 1 key head, " + SIZES


def symbolic(
    H: int = 1, E: int = 2, bias: bool = False, forbidden: Pairs = (), causal: bool = False
) -> Problem:
    """2 queries, 3 keys of width 2, one key head; `forbidden`: (query, key), for every head."""
    import sympy as sp

    mask = symbols("b", 1, H, 2, 3) if bias else np.zeros((1, 1, 2, 3), dtype=object)
    for i, j in forbidden:
        mask[..., i, j] = -np.inf
    return Problem(
        q=symbols("q", 1, H, 2, 2),
        k=symbols("k", 1, 1, 3, 2),
        v=symbols("v", 1, 1, 3, E),
        dout=symbols("g", 1, H, 2, E),
        mask=mask.view(Formulas),
        causal=causal,
        scale=sp.Symbol("scale", real=True),
    )


def loss(problem: Problem, heads: int = 2) -> Any:
    """L = <dout, o>, or what the first `heads` add to it."""
    return (problem.dout * definition.attention(problem))[:, :heads].sum()


def biased(H: int = 1) -> Problem:
    """H query heads on one key head, with a bias and a forbidden key."""
    return symbolic(H=H, bias=True, forbidden=((0, 1),))


def products(x: Array, y: Array) -> Array:
    """x^T y, added over batch and heads: what changes of basis see."""
    return (x.swapaxes(-1, -2) @ y).sum(axis=(0, 1))


@proved_at(GROUPED, scaled=False)
def the_query_gradient_is_the_derivative(scaled: bool = True) -> Array:
    """dq = dL/dq. The control forgets the scale."""
    problem = biased(H=2)
    dq = definition.gradients(problem).q * (1 if scaled else 1 / definition.scale(problem))
    return residual(dq, derivatives(loss(problem), problem.q))


@proved_at(SIZES, scaled=False)
def the_key_gradient_is_the_derivative(scaled: bool = True) -> Array:
    """dk = dL/dk. The control forgets the scale."""
    problem = biased()
    dk = definition.gradients(problem).k * (1 if scaled else 1 / definition.scale(problem))
    return residual(dk, derivatives(loss(problem), problem.k))


@proved_at(GROUPED, heads=1)
def the_value_gradient_is_the_derivative(heads: int = 2) -> Array:
    """dv = dL/dv. The control differentiates the loss of one head of the group only."""
    problem = biased(H=2)
    return residual(definition.gradients(problem).v, derivatives(loss(problem, heads), problem.v))


@proved_at(GROUPED, scaled=True)
def the_bias_gradient_is_the_derivative(scaled: bool = False) -> Array:
    """db = dL/db, and 0 where the key is forbidden. The control scales it."""
    problem = biased(H=2)
    db = definition.score_gradients(problem) * (definition.scale(problem) if scaled else 1)
    assert problem.mask is not None
    return residual(db, derivatives(loss(problem), problem.mask))


@proved_at(SIZES, transpose=False)
def query_gradients_mirror_key_gradients(transpose: bool = True) -> Array:
    """q^T dq = (k^T dk)^T: L does not change along (q A, -k A^T). The control: no transpose."""
    problem = biased()
    gradients = definition.gradients(problem)
    of_keys = products(problem.k, gradients.k)
    return residual(products(problem.q, gradients.q), of_keys.T if transpose else of_keys)


@proved_at(GROUPED, transpose=False)
def value_gradients_mirror_the_output(transpose: bool = True) -> Array:
    """v^T dv = o^T dout: both are sum_ij a_ij v_j dout_i^T. The control transposes one."""
    problem = biased(H=2)
    of_values = products(problem.v, definition.gradients(problem).v)
    of_output = products(definition.attention(problem), problem.dout)
    return residual(of_values, of_output if transpose else of_output.T)


@proved_at("2 queries, 3 keys, widths 2 and 1", scaled=False)
def the_gradient_of_log_sum_exp_is_a_mean_of_keys(scaled: bool = True) -> Array:
    """d lse_i / d q_i = scale sum_j a_ij k_j: attention over (q, k, k). Control: no scale."""
    problem = symbolic(E=1)
    factor = definition.scale(problem) if scaled else 1
    means = factor * definition.attention(problem.but(v=problem.k))
    return residual(means, derivatives(definition.lse(problem).sum(), problem.q))


@proved_at("2 queries, 3 keys, widths 2 and 2, one fully masked query", idle=0)
def idle_queries_have_no_gradient(idle: int = 1) -> Array:
    """dq_i = 0 and o_i = 0 for an idle query i. The control looks at the other one."""
    problem = symbolic(forbidden=((1, 0), (1, 1), (1, 2)))
    rows = (definition.gradients(problem).q, definition.attention(problem))
    return residual(np.concatenate([row[:, :, idle] for row in rows], axis=-1))


@proved_at("2 queries, 3 keys, widths 2 and 2", forbidden=((0, 1),))
def forbidden_keys_have_no_gradient(forbidden: Pairs = ((0, 1), (1, 1))) -> Array:
    """dk_j = dv_j = 0 for a key that no query may attend to. The control: one query may."""
    gradients = definition.gradients(symbolic(forbidden=forbidden))
    return residual(np.concatenate([gradients.k[:, :, 1], gradients.v[:, :, 1]], axis=-1))


@proved_at("2 queries, 3 keys, widths 2 and 2, causal", query=1)
def the_first_causal_query_has_no_gradient(query: int = 0) -> Array:
    """dq_0 = 0 and o_0 = v_0: it attends to one key, with weight 1. The control: query 1."""
    problem = symbolic(causal=True)
    dq, o = definition.gradients(problem).q, definition.attention(problem)
    return residual(np.concatenate([dq[:, :, query], (o - problem.v[:, :, :2])[:, :, query]], -1))


@proved_at("2 queries, 3 keys, widths 2 and 2, any invertible 2 x 2 matrix", inverse=False)
def only_inner_products_matter(inverse: bool = True) -> Array:
    """The scores of (q A, k A^-T) are those of (q, k). The control multiplies both by A."""
    problem = symbolic()
    a, b, c, d = symbols("A", 4)
    forth = np.array([[a, b], [c, d]], dtype=object).view(Formulas)
    back = np.array([[d, -c], [-b, a]], dtype=object).view(Formulas) / (a * d - b * c)
    moved = problem.but(q=problem.q @ forth, k=problem.k @ (back if inverse else forth))
    return residual(definition.scores(moved), definition.scores(problem))


@proved_at("2 queries, 3 keys, widths 2 and 2", power=2)
def outputs_add_as_values_do(power: int = 1) -> Array:
    """o(v + w) = o(v) + o(w). The control squares the values on one side."""
    problem, w = symbolic(), symbols("w", 1, 1, 3, 2)
    outs = [definition.attention(problem.but(v=v)) for v in (problem.v + w, problem.v, w**power)]
    return residual(outs[0], outs[1] + outs[2])
