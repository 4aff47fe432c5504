"""Theorems about the gradient through the log-sum-exp, which adds to that through the output.

    L = sum_j a_j g_j + c log sum_j exp(s_j)        ds_j = a_j (g_j - sum_j a_j g_j + c)

c stands for dlse, of one query; a loss is a sum over queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spec.attention import definition
from spec.attention.proofs import any_sink
from spec.attention.proofs.any_number_of_keys import power, score_gradient, softmax
from spec.attention.proofs.at_sizes import symbolic
from spec.attention.proofs.at_sizes import the_gradient_of_log_sum_exp_is_a_mean_of_keys as of_keys
from spec.attention.proofs.examples import exactly
from spec.proving.algebra import derivative, numbers, numerator, over_keys, per_key
from spec.proving.formulas import derivatives, residual, symbols
from spec.proving.theorem import proved, proved_at

if TYPE_CHECKING:
    from sympy import Expr

    from spec.attention.notation import Problem
    from spec.notation import Array

the_gradient_of_log_sum_exp_is_a_mean_of_keys = of_keys


@proved_at("2 queries, 3 keys, widths 2 and 1, a key forbidden to a query", sign=-1)
def gradients_are_the_derivatives(sign: int = 1) -> Array:
    """dq = dL/dq of L = <dout, o> + <dlse, lse>. The control takes dlse away."""
    problem = symbolic(E=1, forbidden=((0, 1),)).but(dlse=symbols("c", 1, 1, 2))
    assert problem.dlse is not None
    both = (problem.dout * definition.attention(problem)).sum()
    both += (problem.dlse * definition.lse(problem)).sum()
    closed = definition.gradients(problem.but(dlse=sign * problem.dlse)).q
    return residual(closed, derivatives(both, problem.q))


@proved("any number of keys, any widths, a loss that adds over queries", factor=0)
def key_gradients_sum_to_the_cotangents(factor: int = 1) -> Expr:
    """<c, sum_j dk_j> = scale <q, c> dlse, for every c. The control: it is zero.

    x stands for scale <q, c>, by which every score moves.
    """
    (s, g), (c, x) = per_key("s g"), numbers("c x")
    ds = score_gradient(s, g) + softmax(s) * c
    return numerator(over_keys(ds * x) - factor * c * x)


@exactly(times=2)
def what_both_teach_adds_up(problem: Problem, times: int = 1) -> Array:
    """d(dout, dlse) = d(dout, 0) + d(0, dlse), of the keys. The control: twice the last."""
    taught = problem.but(dlse=problem.dout.sum(axis=-1))
    alone = definition.gradients(taught.but(dout=0 * problem.dout)).k
    return definition.gradients(taught).k - definition.gradients(problem).k - times * alone


@proved("any number of keys, any loss", factor=0)
def a_sink_learns_through_the_log_sum_exp(factor: int = 1) -> Expr:
    """dL/dt = exp(t) / L (dlse - sum_j a_j g_j). The control forgets dlse.

    The logarithm is differentiated by hand: d log L = dL / L.
    """
    (s, g), (t, x, c) = per_key("s g"), numbers("t x c")
    along = derivative(any_sink.mean(g, s, t + x), x)
    whole = any_sink.total(s, t)
    along += c * derivative(any_sink.total(s, t + x), x) / whole
    share = power(t) / whole
    return numerator(along - share * (factor * c - any_sink.mean(g, s, t)))
