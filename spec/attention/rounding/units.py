"""The rounding of a sum by matrix units, and the error bound for it.

A tensor core adds b products, and what it has so far, at once: all are aligned to the largest, of
which g bits are kept beyond the 24 of a float32; what lies below them is cut off, the rest is
summed exactly, and the sum is cut off at 24 bits. From Khattak and Mikaitis, Accurate Models of
NVIDIA Tensor Cores, 2025 (arXiv:2512.07004), whose models are V100TC, A100TC and H100TC:

           b, of 16 bits    b, of TF32    g
    V100        4               -         0
    A100        8               4         1
    H100       16               8         2

Measured here, on an H200 alone (`python -m tests.cuda.numbers`): 2^-25 is the last that counts
in a sum with 1, as g = 2 has it, and 1 - 2^-25 becomes 1 - 2^-24. The others: not calibrated.

    products    factors                            sums of products            granted to
    exact       as they are                        rounded to nearest          everybody
    cut         as they are                        cut off                     who is seen to do so
    tf32        11 bits, rounded or cut off        cut off                     float32, if declared

Lemma 1' (sums that are cut off). P = (A + |S|) / 2 bounds each partial sum (Lemma 1), and each term
as well: the positive ones add up to (A + S) / 2, the others to (S - A) / 2. So a term, and what
there was before it, loses less than 2 u 2^-g P as it is aligned, and a sum less than 2 u P, where u
is that of float32. There are n terms in k = ceil(n / b) <= (n + b - 1) / b blocks:

    |fl(sum) - S| <= 2 u [ (n + k) 2^-g + k ] P + roundings of products
                  <= 3 (n + 1) u P                          as g >= 0 and b >= 4

instead of (n - 1) u P. A unit that adds up sums of fewer products, each from zero, rounds an
addition in place of an alignment. With g = 2 and b = 16 it is (n + 5 k) u P / 2, which from n = 7
on is no more than rounding to nearest is granted, and below it C_PRE and C_WEIGHT grant more:
products of 16 bits on an H200 need no grade.

A single product is exact, as both factors have 11 bits at most. The part that is cut off may
exceed the number that was added (1 - 2^-25), so that Lemma 2 does not apply to such a sum.

TF32 reads 19 bits of a float32: 8 of its exponent, 10 of its fraction (NVIDIA A100 Tensor Core GPU
Architecture, 2020). Measured: Triton hands numbers over as they are, and what is beyond is cut off;
cuBLAS rounds to nearest before. Either way a factor x that has more than 11 bits is off by

    U_TF32 |x|,    U_TF32 = 2^-10

and one that has not is what it is. That makes inputs inexact (`inexact`), and weights and ds are
cast on their way into a product (u_cast). It costs percents where scores are large, so that it is
granted only if it is declared (`products=tf32`).

Measured (tests/attention/test_matrix_units.py: functions in NumPy whose products are those of a
V100, of an H200 in 16 bits, and of TF32 either way): all are certified, TF32 by 0.96 of a budget at
most. Of 480 mistakes that declare TF32 two are not refused in float32 that are otherwise, in the
standard profile: exponentials that are off by 1e-4, and 1e-5 added to a sum of them. Caches and
dropout in TF32 are certified by 0.42 at most, and all 91 mistakes of theirs that declare it are
refused.

Fast exponentials need no grade: ex2.approx is off by 2.39 u at most (measured, from -126 to 0), of
which C_EXP grants 8; and log2(e) times its argument rounds once, which C_GAP grants.
"""

from typing import Any

import numpy as np

from spec.attention.rounding.arithmetic import Arithmetic
from spec.notation import Array

KEPT = 11  # significant bits of a factor in TF32


def entered(x: Array, B: Any, rules: Arithmetic) -> Any:
    """How far x, which is off by B, is as it enters a product; shaped like x, or B itself."""
    if not rules.u_factor:
        return B
    fraction, _ = np.frexp(x)
    whole = np.ldexp(fraction, KEPT)
    kept = (whole == np.rint(whole)) & (np.asarray(B) == 0)
    return np.where(kept, 0.0, B + rules.u_factor * (np.abs(x) + B))
