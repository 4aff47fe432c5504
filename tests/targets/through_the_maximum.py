"""What autograd makes of a softmax written by hand whose maximum stays in the graph.

    m = s.amax(-1, keepdim=True);  e = exp(s - m);  L = e.sum(-1, keepdim=True)
    quotient: o = (e / L) @ v      late: o = (e @ v) / L

Each step of the backward pass is one operation, and is stored where the grade stores arrays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spec.notation import Array

if TYPE_CHECKING:
    from tests.attention.machine import Machine


def score_gradients(machine: Machine) -> tuple[Array, Array, Array]:
    """What is multiplied for dv, weights and a cotangent; and ds.   (B, H, N, M or E)"""
    each, problem = machine.each, machine.problem
    s = machine.scores()
    m = s.max(-1, keepdims=True)
    m = np.where(np.isneginf(m), machine.f(0), m)
    e = each(machine.exponential(s, m))
    L = each(machine.sum(e))
    L = np.where(L == 0, machine.f(1), L)
    late = machine.style.softmax == "late"
    weights, dout, de = (_late if late else _quotient)(machine, e, L)
    dx = np.where(problem.allowed, each(de * e), machine.f(0))
    return weights, dout, each(dx + _shared_out(machine, s == m, each(-machine.sum(dx))))


def _quotient(machine: Machine, e: Array, L: Array) -> tuple[Array, Array, Array]:
    """a = e / L, so that de = da / L - sum_j da_j ((e_j / L) / L)."""
    each, a = machine.each, machine.each(e / L)
    da = each(machine.product(machine.dout, machine.v.swapaxes(-1, -2)))
    da = np.where(machine.problem.allowed, da, machine.f(0))
    dL = each(-machine.sum(each(da * each(each(e / L) / L))))
    return a, machine.dout, each(each(da / L) + dL)


def _late(machine: Machine, e: Array, L: Array) -> tuple[Array, Array, Array]:
    """o = n / L, so that dn = dout / L and de = <dn, v> - sum_c dout_c ((n_c / L) / L)."""
    each = machine.each
    o = each(each(machine.product(machine.cast(e), machine.v)) / L)
    dn = each(machine.dout / L)
    dL = each(-machine.sum(each(machine.dout * each(o / L))))
    return e, dn, each(each(machine.product(dn, machine.v.swapaxes(-1, -2))) + dL)


def _shared_out(machine: Machine, attained: Array, dm: Array) -> Array:
    """In equal parts to the keys that tie, or in a late style all of it to the first of them."""
    attained = attained & machine.problem.allowed
    if machine.style.softmax == "late":
        attained = attained & (np.cumsum(attained, axis=-1) == 1)
    ties = np.maximum(attained.sum(-1, keepdims=True), 1).astype(machine.f)
    return machine.each(machine.each(attained / ties).astype(machine.f) * dm)
