"""Theorems about sets of keys that are cut up, put together and repeated.

A block of keys, of any number, is known by its output and its log-sum-exp. Writing
mass = exp(lse), two blocks merge by

    mass = mass_1 + mass_2          o = (mass_1 o_1 + mass_2 o_2) / mass

(Milakov and Gimelshein 2018; Dao et al. 2022, section 3.1). The empty block has mass 0
and output 0. A statement about lse is proved as one about mass, its exponential.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from spec.proving.algebra import numerator, over_keys, per_key
from spec.proving.theorem import proved

if TYPE_CHECKING:
    from sympy import Expr, Matrix


class Block(NamedTuple):
    """The results for a block of keys: a column of its output, and exp(lse)."""

    out: Expr
    mass: Expr


Merge = Callable[[Block, Block], Block]


def block(name: str) -> Block:
    """Attention over any number of keys: the output and the mass of block `name`."""
    import sympy as sp

    s, v = per_key("s v", block=name)
    mass = over_keys(sp.exp(s), count="M" + name)
    return Block(over_keys(sp.exp(s) * v, count="M" + name) / mass, mass)


def merged(one: Block, two: Block) -> Block:
    """The output weighted by mass. A block without mass adds nothing, and has no mean."""
    mass = one.mass + two.mass
    return Block((one.mass * one.out + two.mass * two.out) / mass, mass)


def averaged(one: Block, two: Block) -> Block:
    """The mean of the outputs, which the controls use instead."""
    return Block((one.out + two.out) / 2, one.mass + two.mass)


def difference(one: Block, two: Block) -> Matrix:
    """The output and the mass by which two blocks differ."""
    import sympy as sp

    return sp.Matrix([numerator(a - b) for a, b in zip(one, two, strict=True)])


@proved("any two blocks, any number of keys in each", merge=averaged)
def merging_blocks_gives_the_whole(merge: Merge = merged) -> Matrix:
    """Attention over the union is the merge, output and lse. The control averages outputs.

    So blocks may be merged in any order, as unions may.
    """
    import sympy as sp

    (s1, v1), (s2, v2) = per_key("s v", block="1"), per_key("s v", block="2")
    mass = over_keys(sp.exp(s1), count="M1") + over_keys(sp.exp(s2), count="M2")
    total = over_keys(sp.exp(s1) * v1, count="M1") + over_keys(sp.exp(s2) * v2, count="M2")
    return difference(merge(block("1"), block("2")), Block(total / mass, mass))


@proved("any block, any number of keys", merge=averaged)
def merging_with_the_empty_block_changes_nothing(merge: Merge = merged) -> Matrix:
    """1 + (0, exp(-inf)) = 1. The control averages outputs."""
    return difference(merge(block("1"), Block(0, 0)), block("1"))


@proved("any number of keys", copies=3)
def duplicating_all_keys_adds_log_two(copies: int = 2) -> Matrix:
    """The output stays, and lse grows by log 2. The control counts every key three times."""
    one = block("1")
    whole = one
    for _ in range(copies - 1):
        whole = merged(whole, one)
    return difference(whole, Block(one.out, 2 * one.mass))


@proved("any two blocks, any number of keys in each", dropped=1)
def a_subset_is_renormalised(dropped: int = 0) -> Matrix:
    """The weights of a block among all, divided by their sum, are its weights alone.

    The control loses a part of that sum.
    """
    import sympy as sp

    (s,), one, two = per_key("s", block="1"), block("1"), block("2")
    among_all = sp.exp(s) / (one.mass + two.mass)
    share = over_keys(among_all, count="M1") - dropped
    return sp.Matrix([numerator(among_all / share - sp.exp(s) / one.mass)])
