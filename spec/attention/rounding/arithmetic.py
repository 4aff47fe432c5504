"""The roundings that a right implementation may make, and where.

Every implementation is granted any order of additions, fused multiply-add or not,
any tiling, and the usual rewritings of the formula. The problem names the
grade, which is the precision in which arrays may be stored:

    grade    accumulators   scores   weights, ds into a product   results
    strict   float32        float32  float32                      one rounding to dtype
    flash    float32        float32  dtype                        one rounding to dtype
    eager    float32        dtype    dtype                        every array in dtype

An exponential that is on its way into a weight of 16 bits need not be better than
that: kernels take fast ones. Flash and eager grant U_FAST for it, beyond C_EXP.

float32 and float64 accumulate in themselves and know one grade, strict.

Subnormal numbers of the accumulator may be read as zero and written as zero: XLA
compiles so, GPUs have instructions that do, and so has x86 for bfloat16
(VDPBF16PS). Only V9, a `should`, asks that they are kept. The subnormal numbers
of float16 are normal numbers of its accumulator, and are kept.

The constants count roundings, in units of the accumulator's unit roundoff u. Each
is the number of operations that some usual implementation does there:

    C_EXP = 8     one exponential. 4 ulp = 8 u is the accuracy class of vector
                  libraries; two exponentials of 2 ulp, where parts are merged
                  through their log-sum-exp, cost as much
    C_LOG = 8     one logarithm, likewise
    U_FAST = 2^-13, absolute: a quarter of the unit roundoff of float16. torch's CPU kernel is
                  off by 1.02e-4 in both formats (2.13, AVX-512, rows of 16 keys and more:
                  its exp(0) is 1 - 5.3e-5), a polynomial of degree 3 by 1e-4
    C_SCALE = 4   the scale: sqrt(D), its reciprocal, the square root of the scale
                  (once for q and once for k), times log2(e)
    C_PRE = 2     q and k each multiplied by a scale before their product
    C_BIAS = 2    the bias times log2(e), and log2(e) itself
    C_GAP = 6     s - m: the subtraction, times log2(e), log2(e) itself, an
                  exponential whose error grows with its argument; and twice for
                  what C_TOP says of the distance between s and m
    C_TOP = 4     exp2(c s - c m) rounds c s and c m (2); parts merged through
                  their log-sum-exp round that, and what it is compared with (2)
    C_WEIGHT = 4  what one weight meets on its way into a product: the quotient,
                  the product, the normaliser of a part, the merging of parts
    C_DIV = 3     dividing by the sum: a reciprocal good to one ulp (2), times it (1)
    C_DA = 2      dout_c v_c: the product, and dout divided by the sum before
    C_DS = 3      a (da - delta), or e (da - delta) / L: a product, a reciprocal, a product
    C_INTO = 3    what ds meets on its way into dq or dk: the product, the scale, the
                  scale that its other factor was multiplied by
"""

from dataclasses import dataclass
from functools import cache

import numpy as np

from spec.attention.notation import Problem
from spec.formats import FORMATS, Format
from spec.notation import HALF, Posed, Products

C_EXP, C_LOG, C_SCALE, C_PRE, C_BIAS = 8.0, 8.0, 4.0, 2.0, 2.0
U_FAST = 2.0**-13
U_TF32 = 2.0**-10  # of a factor that is cut off at 11 bits
C_GAP, C_TOP, C_WEIGHT, C_DIV, C_DA, C_DS, C_INTO = 6.0, 4.0, 4.0, 3.0, 2.0, 3.0, 3.0

# Products q_ic k_jc: for more, long double takes longer than all else, half a millisecond or more,
# and budgets grow a little instead (`slack`). What is wrong there is so in smaller problems.
WIDE_UP_TO = 2**16


@dataclass(frozen=True)
class Arithmetic:
    """The roundings of one problem: `unit` for the accumulators, `stored` for the results.

    u, w: the relative and the absolute error of one operation of the accumulator.
    u_out, w_out: of the rounding of a result; 0 where the accumulator is the result.
    u_cast, w_cast: of a weight, or ds, on its way into a product; 0 if strict.
    u_exp: of an exponential that becomes such a weight, before it is stored; 0 if strict.
    u_each, w_each: of storing any other array; 0 unless eager.
    u_factor: of a number on its way into a product, be it one of the problem's; 0 unless TF32.
    cut: sums of products are cut off, not rounded (`units`).
    flush: what a matrix unit may read as zero; 0 where it may not.
    """

    unit: Format
    stored: Format
    u: float
    w: float
    u_out: float
    w_out: float
    u_cast: float
    w_cast: float
    u_exp: float
    u_each: float
    w_each: float
    u_factor: float
    cut: bool
    flush: float


@cache
def _arithmetic(dtype: str, grade: str, products: str) -> Arithmetic:
    stored = FORMATS[dtype]
    narrow = stored.p < FORMATS["float32"].p
    unit = FORMATS["float32"] if narrow else stored
    casts = narrow and grade != "strict"
    each = narrow and grade == "eager"
    tf32 = U_TF32 if products == "tf32" and dtype == "float32" else 0.0
    flush = stored.tiny if stored.lowest == unit.lowest else 0.0
    w, w_out = unit.tiny, max(stored.w, flush)
    return Arithmetic(
        unit=unit,
        stored=stored,
        u=unit.u,
        w=w,
        u_out=stored.u * narrow,
        w_out=w_out * narrow,
        u_cast=stored.u * casts or tf32,
        w_cast=w_out * (casts or tf32 > 0),
        u_exp=U_FAST * casts,
        u_each=stored.u * each,
        w_each=w_out * each,
        u_factor=tf32,
        cut=products != "exact" and dtype != "float64",
        flush=flush,
    )


def allowed(problem: Posed) -> Arithmetic:
    """The arithmetic that `problem` allows its implementations."""
    return _arithmetic(problem.dtype, problem.rounding, problem.products)


def single(problem: Problem) -> Problem:
    """The problem as sums are stored that have float32 where others have 16 bits, unless eager."""
    if problem.dtype not in HALF or problem.rounding == "eager":
        return problem
    return in_single(problem)


def in_single(problem: Problem) -> Problem:
    """The same problem of float32, of which no factor is cut off."""
    products: Products = "exact" if problem.products == "exact" else "cut"
    return problem.but(dtype="float32", rounding="strict", products=products)


def widens(problem: Problem) -> bool:
    """Whether the reference is evaluated in long double: float64 problems, unless large."""
    products = problem.B * problem.H * problem.N * problem.M * max(problem.D, problem.E)
    return problem.dtype == "float64" and products <= WIDE_UP_TO


def unit_of_reference(wide: bool) -> float:
    """The unit roundoff of NumPy's widest float here, or of float64."""
    return float(np.finfo(np.longdouble).eps) / 2 if wide else 2.0**-53


def slack(problem: Problem) -> float:
    """By what a budget grows, since the reference is rounded too.

    The reference is itself a right implementation, with the unit roundoff u_ref,
    so |x - reference| <= B(u) + B(u_ref) <= 2 B(u). When u_ref is smaller there is
    more to say: every term of a budget but one grows at least linearly with u, so
    that B(u_ref) <= B(u) u_ref / u. The exception is Lemma 2, whose sum of
    min(u, a_j) need not shrink at all; but it never exceeds M u_ref, in a place
    where the budget holds C_WEIGHT u. Hence the factor min(2, 1 + (M + 8) u_ref / u),
    the 8 for what the budget and the interval lose in being evaluated in float64.
    """
    reference = unit_of_reference(widens(problem))
    return min(2.0, 1.0 + (problem.M + 8) * reference / allowed(problem).u)
