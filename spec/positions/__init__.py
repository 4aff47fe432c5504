"""Positions: section R. Attention is blind to order, and these are three ways to give it sight.

Attention treats keys as a set (section P): it cannot tell "how are you" from "you how
are". Positions are made visible

    sinusoidal   in the tokens: PE(p) is added, hands of clocks of many speeds
      table        R1 to R7      clocks, and what follows from turning
      addition     R8 to R13     added, to every token alike
    rotary       in queries and keys: both are turned by R(p), so scores see differences
      turning      R14 to R22    a position turns, and only turns
      relative     R23 to R30    attention sees differences
    alibi        in the scores: -m (i - j) is added, so what is far fades
      slopes       R31 to R33    powers of two, or those asked for
      biases       R34 to R40    distances, and what a softmax makes of them
    calls          R41 to R43    and every call is a function

and the three share one idea: only differences of positions matter. For the clocks,
PE(p + k) = R(k) PE(p), so inner products depend on distances; for rotations
<R(p) q, R(j) k> = <R(p - j) q, k>; and the bias is a function of i - j to begin with. Each is a
kind of subject of its own, a chapter within this one; they share

    angles    p theta and its cosine, and how far a computed angle may stray
    pairing   which two columns are a pair: a convention, and a permutation
    proofs    what is proved, one pair of columns at a time
    calling   programs as they are called; truth: the definitions as records

Where real programs go wrong is what they leave out of a formula: the rows that a cache
holds already, the digits that an angle needs at a far position, a pairing that another
program has chosen otherwise, head counts that are no power of two.
"""

from spec.positions import calls
from spec.positions.alibi.clauses import biases, slopes
from spec.positions.rotary.clauses import relative, turning
from spec.positions.sinusoidal.clauses import addition, table

SECTIONS = (table, addition, turning, relative, slopes, biases, calls)
