"""Positions: section R. Attention ignores order, and three kinds of positions provide it.

Attention treats keys as a set (section P), so it cannot distinguish "how are you" from "you how
are". Each of the three is a kind of subject, with a chapter of its own:

    sinusoidal   in the tokens: a table PE(p) of sines and cosines is added
      table        R1 to R7      the table encodes positions as rotation angles
      addition     R8 to R13     adding positions makes equal tokens distinguishable
    rotary       in queries and keys: both are rotated by R(p)
      turning      R14 to R22    a position rotates every pair of columns
      relative     R23 to R30    attention depends only on relative positions
    alibi        in the scores: -m (i - j) is added, so distant keys weigh less
      slopes       R31 to R33    slopes are fixed powers of two, one for each head
      biases       R34 to R40    the penalty is linear in the distance
    calls          R41 to R43    a call does not modify its inputs

In all three, only differences of positions matter. A sinusoidal table has PE(p + k) = R(k) PE(p),
so inner products depend on distances; for rotations <R(p) q, R(j) k> = <R(p - j) q, k>; and the
ALiBi bias is a function of i - j by definition. They share

    angles    p theta and its cosine, and the error of a computed angle
    pairing   which two columns are a pair: a convention, and a permutation
    proofs    what is proved, one pair of columns at a time
    calling   programs as they are called; truth: the definitions as records

Bugs of real programs are in what the formulas leave out: rows that a cache already holds, the
digits that an angle needs at a distant position, programs with different pairings, and numbers of
heads that are no power of two.
"""

from spec.positions import calls
from spec.positions.alibi.clauses import biases, slopes
from spec.positions.rotary.clauses import relative, turning
from spec.positions.sinusoidal.clauses import addition, table

SECTIONS = (table, addition, turning, relative, slopes, biases, calls)
