"""Theorems about the definition of merging, run on symbols.

Every entry is a symbol, the log-sum-exps among them, of which `spec.proving.formulas` takes the
larger one to be 0: a shift that changes nothing, and is proved not to (`a_constant_passes`). A
statement about lse is proved as one about exp(lse). That states of any number of keys merge into
the state of all is `spec.attention.proofs.blocks`.
"""

from typing import Any

import numpy as np

from spec.merging import definition
from spec.merging.notation import Problem, State
from spec.notation import Array
from spec.proving.formulas import residual, symbols, untrue_gradients
from spec.proving.theorem import flat, proved_at

SIZES = "one query, outputs of width 2, both states live"
THREE = "three states of one query, outputs of width 2"


def state(name: str) -> State:
    """A live state in symbols."""
    return State(symbols("o" + name, 1, 1, 1, 2), symbols("l" + name, 1, 1, 1))


def problem(one: State, two: State) -> Problem:
    """Two states, and cotangents in symbols."""
    do, dlse = symbols("g", 1, 1, 1, 2), symbols("h", 1, 1, 1)
    return Problem(*one, *two, do, dlse)


def merge(one: State, two: State) -> State:
    """Their merge."""
    return definition.merged(problem(one, two))


def halfway(one: State, two: State) -> State:
    """The mean of the outputs, which the controls use instead."""
    return State((one.o + two.o) / 2, merge(one, two).lse)


def difference(one: State, two: State) -> Array:
    """By how much two states differ, and what is known of them by exp(lse)."""
    import sympy as sp

    pairs = ((one.o, two.o), (np.exp(one.lse), np.exp(two.lse)))
    expanded = np.frompyfunc(sp.expand_power_exp, 1, 1)  # exp(a + b) is exp(a) exp(b)
    return flat(residual(expanded(x), expanded(y)) for x, y in pairs)


@proved_at(SIZES, through=False)
def the_gradients_are_the_derivatives(through: bool = True) -> Array:
    """All four closed forms are derivatives. The control drops the cotangent of lse."""
    p = problem(state("1"), state("2"))
    o, lse = definition.merged(p)
    loss = (p.do * o).sum() + (p.dlse * lse).sum()
    closed = definition.gradients(p if through else p.but(dlse=p.dlse * 0))
    return untrue_gradients(closed, loss, [getattr(p, name) for name in closed._fields])


@proved_at(THREE, pair=halfway)
def merging_is_associative(pair: Any = merge) -> Array:
    """(1 + 2) + 3 = 1 + (2 + 3). The control averages outputs."""
    one, two, three = state("1"), state("2"), state("3")
    return difference(pair(pair(one, two), three), pair(one, pair(two, three)))


@proved_at(SIZES, to_both=False)
def a_constant_passes(to_both: bool = True) -> Array:
    """lse_i + c gives (o, lse + c). The control adds it to one of the two."""
    import sympy as sp

    one, two, c = state("1"), state("2"), sp.Symbol("c", real=True)
    moved = [State(x.o, x.lse + c * added) for x, added in ((one, 1), (two, int(to_both)))]
    here = merge(one, two)
    return difference(merge(*moved), State(here.o, here.lse + c))


@proved_at(SIZES, times=3)
def a_state_twice_adds_log_two(times: int = 2) -> Array:
    """s + s = (o, lse + log 2). The control counts it three times."""
    import sympy as sp

    one = state("1")
    both = merge(one, one)
    return difference(both, State(one.o, one.lse + sp.log(times)))


@proved_at(SIZES, shared=False)
def gradients_add_up_to_the_cotangents(shared: bool = True) -> Array:
    """do_1 + do_2 = do, dlse_1 + dlse_2 = dlse. The control hands do to both."""
    p = problem(state("1"), state("2"))
    d = definition.gradients(p)
    do = d.o_1 + d.o_2 if shared else p.do + p.do
    return flat([residual(do, p.do), residual(d.lse_1 + d.lse_2, p.dlse)])
