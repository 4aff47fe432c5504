"""Budgets: the rounding error that a correct implementation may make on a given problem.

Per element, and derived, never a literal. A budget is a function of a problem, whose
`dtype` and `rounding` say which arithmetic is allowed. To read in this order:

    arithmetic       what may be rounded where, and how often: every constant
    sums             sums in any order, light terms, rescalings (Lemmas 1, 2 and 4)
    units            what tensor cores make of a sum (Lemma 1'), and TF32 of its factors
    scores, slanted  <q, k>, the scale, the bias; ALiBi slopes
    lattice          numbers of few bits, whose sums are exact
    exponents        what becomes of scores on the way to weights
    weights          the softmax, the sum of a row and its logarithm
    intervals        weights that are hardly determined (Lemma 6)
    outputs          the values, and the exact output
    undetermined     the output of their rows: the hull and intervals (Lemmas 5 and 6)
    forward          the output: the centred form (Lemma 3)
    through_lse      what a cotangent of the log-sum-exp adds to the gradients of the scores
    recomputed       the weights, as a backward pass has them
    score_gradients  da, the row term, ds
    maximum          what a maximum that is differentiated adds to ds
    backward         dq, dk, dv
    inexact          inputs that are themselves results, as inside a layer
    exactly          gradients where 16 bits store everything else exactly (Lemma 7)
    altogether       all of them, of one problem

Granted are any order of additions and any tiles, with or without fused multiply-add;
above 128 keys, tiles that are scanned from either end. Not granted are an output
from weights exp(s - lse), a row term from such weights, products that are not sums
of products (Strassen), accumulators that truncate where no tensor core is seen, and stochastic
rounding.

Idle rows and gradients of keys that no query sees have a budget of exactly zero;
what a mask forbids enters no budget. An infinite budget is no claim: `coverage` says
how many rows that leaves out.

Measured (tests/attention/soak_rounding.py, N and M up to 24): 1829 problems a line in sixteen
styles; no computation is outside its budget. The largest error in units of its budget; near 1
it is the rounding of the result, of which there is at least half a unit:

                        o  weights  row sum      lse       dq       dk       dv       ds
    float64 strict   0.38     0.24     0.14     0.26     0.47     0.47     0.18     0.47
    float32 strict   0.41     0.20     0.14     0.24     0.43     0.38     0.20     0.44
    float16 strict   1.00     1.00     0.81     0.24     0.97     1.00     1.00     1.00
    float16 flash    0.98     1.00     0.68     0.99     0.61     0.55     0.80     0.48
    float16 eager    0.83     0.56     0.19     0.91     0.32     0.42     0.55     0.47
    bfloat16 strict  1.00     0.99     0.87     0.27     0.95     0.92     0.99     0.96
    bfloat16 flash   0.90     0.99     0.82     0.99     0.70     0.65     0.85     0.50
    bfloat16 eager   0.99     0.96     0.21     0.88     0.25     0.34     0.38     0.49

And the other way round: the share of 300 such problems, in a hundred, on which a fault
exceeds a budget (tests/attention/test_rounding_faults.py; where it does not show, it often
changes nothing: one key, ties, a score that needs few digits; 0 for bfloat16 flash is what
that allows):

                             float32   bfloat16   float16   bfloat16
                             strict    strict     strict    flash
    scores in bfloat16          75        71         69        70
    weights in bfloat16         69        56         70         0
    weights in float16          69        40         53         1
    scale in bfloat16           49        45         38        42
    sum of exponentials + 1e-5  92        60         67        15
    tiles kept in bfloat16      97        58         82         5
    output cut to bfloat16      97        66         84        12
    no row term                 95        95         84        92
    row term in bfloat16        94         2         70         0
    lse in float16              97        70         71        37
    ds in bfloat16              69        19         52         0
"""

import numpy as np

from spec.attention.notation import Problem
from spec.attention.rounding.altogether import bounds, of_keys
from spec.attention.rounding.arithmetic import allowed, single
from spec.attention.rounding.reference import Reference, in_float64
from spec.attention.rounding.slanted import multiplied
from spec.attention.rounding.sums import added_up
from spec.attention.rounding.weights import Coverage
from spec.deferred import deferred
from spec.formats import rounded
from spec.notation import Array, once


def reference(problem: Problem) -> Reference:
    """The definition at the very numbers of `problem`: o, weights, lse, gradients.

    In float64; in long double for a float64 problem, unless it is large
    (`arithmetic.WIDE_UP_TO`). The budgets include the reference's own error.
    """
    return bounds(problem).reference


def wanted(problem: Problem, name: str) -> tuple[Array, Array]:
    """The values that the definition gives for an array, and their error bounds."""
    right = reference(problem)
    match name:
        case "o":
            return right.o, of_output(problem)
        case "a":
            return right.weights, of_weights(problem)
        case "lse":
            return right.lse, of_lse(problem)
    of = {"ds": "bias"}.get(name, name[1:])
    return getattr(right.gradients, of), getattr(of_gradients(problem), of)


def of_output(problem: Problem) -> Array:
    """The budget of o as it is stored in the dtype.   (B, H, N, E)"""
    return deferred(lambda: bounds(problem).forward.output)


def of_mean(problem: Problem) -> Array:
    """The budget of o where all scores of a row are 0.   (B, H, N, E)

    Every exponential is 1, which no format rounds. A fast one is 1 + d with |d| <= u_exp, and
    stored as 1; a normaliser that adds them up before makes |o| d / (1 - d) of that.
    """
    rules = allowed(problem)
    o = np.abs(in_float64(reference(problem).o))
    fast = (1 + rules.u_out) * rules.u_exp / (1 - rules.u_exp)
    return of_output(problem.but(rounding="strict")) + fast * o


def admissible(problem: Problem) -> tuple[Array, Array]:
    """The least and the greatest o that is right.   two of (B, H, N, E)

    A strict result of 16 bits is rounded once, so with B the error before that

        RN(o - B) <= stored <= RN(o + B)

    as rounding to nearest is monotone. Most elements have one admissible value.
    Elsewhere, o - of_output and o + of_output.
    """
    forward = bounds(problem).forward
    o = forward.scores.reference.o
    if not forward.rules.u_out or forward.rules.u_cast:
        return o - forward.output, o + forward.output
    low, high = o - forward.accumulated, o + forward.accumulated
    return rounded(low, problem.dtype), rounded(high, problem.dtype)


def of_weights(problem: Problem) -> Array:
    """The budget of the weights as an array of the dtype; 0 at forbidden keys.   (B, H, N, M)"""
    return deferred(lambda: of_keys(bounds(problem).weights.stored, problem))


def of_row_sum(problem: Problem) -> Array:
    """The budget of the sum of a row of stored weights, less one; 0 if idle.   (B, H, N)"""
    return deferred(lambda: bounds(problem).weights.row_sum)


def of_lse(problem: Problem, stored: str | None = None) -> Array:
    """The budget of the log-sum-exp; 0 for an idle row, where it is exactly -inf.   (B, H, N)

    stored: the format that it came in; that of the problem unless told otherwise.
    """
    return deferred(lambda: bounds(problem).weights.log_sum(stored or problem.dtype))


class OfGradients:
    """The budgets of the gradients, named like these (`Gradients`), each when it is asked for."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @property
    def q(self) -> Array:
        """The error bound of dq.   (B, H, N, D)"""
        return deferred(lambda: bounds(self.problem).of_gradient("q"))

    @property
    def k(self) -> Array:
        """The error bound of dk.   (B, G, M, D)"""
        return deferred(lambda: of_keys(bounds(self.problem).of_gradient("k"), self.problem, -2))

    @property
    def v(self) -> Array:
        """The error bound of dv.   (B, G, M, E)"""
        return deferred(lambda: of_keys(bounds(self.problem).of_gradient("v"), self.problem, -2))

    @property
    def bias(self) -> Array:
        """The error bound of ds.   (B, H, N, M)"""
        return deferred(lambda: of_keys(bounds(self.problem).of_gradient("bias"), self.problem))

    @once
    def sinks(self) -> Array | None:
        """The error bound of the gradients of the sinks, if there are any.   (H,)"""
        return None if self.problem.sinks is None else of_sinks(self.problem)

    @once
    def slopes(self) -> Array | None:
        """The error bound of the gradients of the slopes, if there are any.   (H,) or (B, H)"""
        return None if self.problem.slopes is None else of_slopes(self.problem)


def of_gradients(problem: Problem) -> OfGradients:
    """The budgets of dq, dk, dv and, as the gradient of the scores, of db."""
    return OfGradients(problem)


def of_sinks(problem: Problem) -> Array:
    """The budget of the gradients of the sinks, which add up over queries.   (H,)"""
    known = bounds(problem)
    ds = known.scores.reference.gradients.bias
    assert ds is not None
    budget = of_sum(ds[..., -1:], known.of_the_sink, (1, problem.H, 1, 1), single(problem))
    return budget.reshape(problem.H)


def of_slopes(problem: Problem) -> Array:
    """The budget of the gradients of the slopes, -sum_ij db_ij |p_i - j|.   (H,) or (B, H)

    The distance, or position, is exact: it multiplies each db and its error, and the product rounds
    (Lemma 1); an eager one is stored.
    """
    assert problem.slopes is not None
    d, rules = multiplied(problem), allowed(problem)
    db = reference(problem).gradients.bias
    assert db is not None
    off = np.where(d == 0, 0.0, of_keys(bounds(problem).of_gradient("unstored"), problem))
    terms = in_float64(db) * d
    B = problem.B if problem.slopes.ndim == 2 else 1
    off = off * d + rules.u_each * np.abs(terms)
    return of_sum(terms, off, (B, problem.H, 1, 1), single(problem)).reshape(problem.slopes.shape)


def of_sum(terms: Array, budget: Array, shape: tuple[int, ...], problem: Problem) -> Array:
    """The budget of `terms` added up to `shape`, the inverse of broadcasting.   (shape)

    Each term is within its `budget` before it is added, in any order (Lemma 1), and
    the sum is stored once. For the gradient of a bias that was broadcast.
    """
    rules = allowed(problem)
    moved, total, count, added = added_up(in_float64(terms), budget, shape, rules.u, rules.w)
    stored = rules.w_out * count
    if rules.u_out:  # where nothing is claimed the sum is infinite, and 0 * inf would be NaN
        stored = stored + rules.u_out * (np.abs(total) + moved + added)
    return moved + added + stored


def coverage(problem: Problem) -> Coverage:
    """How much the budgets of `problem` say, so that a pass is not a pass of nothing."""
    known = bounds(problem)
    counts = (~problem.idle, known.forward.ranged, known.backward.of_scores.again.silent)
    return Coverage(*(int(np.count_nonzero(x)) for x in counts))
