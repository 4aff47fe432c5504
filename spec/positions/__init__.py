"""Positions: section R. Attention is blind to order, and these are three ways to give it sight.

Attention treats keys as a set (section P): it cannot tell "how are you" from "you how
are". Positions are made visible

    sinusoidal   in the tokens: PE(p) is added, hands of clocks of many speeds
    rotary       in queries and keys: both are turned by R(p), so scores see differences
    alibi        in the scores: -m (i - j) is added, so what is far fades

and the three share one idea: only differences of positions matter. For the clocks,
PE(p + k) = R(k) PE(p), so inner products depend on distances; for rotations
<R(p) q, R(j) k> = <R(p - j) q, k>; and the bias is a function of i - j to begin with. Each is a
kind of subject of its own, with problems and a record, and numbers R1 to R43 run through all.

    angles    p theta and its cosine, and how far a computed angle may stray
    pairing   which two columns are a pair: a convention, and a permutation
    proofs    what is proved, one pair of columns at a time
    calling   programs as they are called; truth: the definitions as records

Where real programs go wrong is what they leave out of a formula: the rows that a cache
holds already, the digits that an angle needs at a far position, a pairing that another
program has chosen otherwise, head counts that are no power of two.
"""

from collections.abc import Mapping
from types import ModuleType

from spec.clause import Clause
from spec.positions import calls
from spec.positions.alibi.clauses import biases, slopes
from spec.positions.rotary.clauses import relative, turning
from spec.positions.sinusoidal.clauses import addition, table

__all__ = ["CLAUSES", "SECTIONS"]

SECTIONS: tuple[ModuleType, ...] = (table, addition, turning, relative, slopes, biases, calls)

_FOUND = [x for section in SECTIONS for x in vars(section).values() if isinstance(x, Clause)]

CLAUSES: Mapping[str, Clause] = {
    clause.number: clause for clause in sorted(_FOUND, key=lambda c: int(c.number[1:]))
}
