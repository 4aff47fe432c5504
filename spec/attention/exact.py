"""Problems on which a right program makes hardly an error, even in 16 bits.

A problem gets other numbers, of few bits, and keeps its masks and most options. In the first kind,
scores are small integers, and the values show the weights themselves: a slight error of the scale
is a large one of a small weight. In the second, all scores are zero, so that weights are 1 / n;
gradients flow only through queries that see a power of two of keys. Every array that leads to the
gradients then consists of numbers of 16 bits (`rounding.exactly`).
"""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np

from spec.attention.contents import UNBOUNDED
from spec.attention.notation import Problem
from spec.attention.options import Capability
from spec.attention.rounding.altogether import bounds
from spec.attention.rounding.exactly import exact_rows
from spec.attention.rounding.lattice import halved
from spec.choices import Choices
from spec.domain import Scope
from spec.notation import HALF, Array
from spec.stream import Stream

Exact = Literal["", "scores", "gradients", "gradients in 16 bits"]
SHARE: Mapping[tuple[Exact, bool], tuple[bool, ...]] = {  # by kind, and whether in 16 bits
    ("scores", False): (False, False, True),
    ("scores", True): (False, True),
    ("gradients", False): (False, True),
    ("gradients", True): (False, True),
    ("gradients in 16 bits", True): (False, True, True, True),
}
EVEN = 16  # a width whose default scale has an exact square root
WIDEST_SCALE = 0.25  # of scores that are sums of eight products; of larger scales, of two


def exactly(choices: Choices, problem: Problem, kind: Exact, scope: Scope) -> Problem:
    """The problem, or one of a kind in its place, if its options allow that.

    It may get other widths, or fewer keys, where these are supported. A cap, and biases, which are
    zero then, are left to gradients in 16 bits.
    """
    narrow = scope.dtype in HALF
    if (kind, narrow) not in SHARE or not choices.pick(SHARE[kind, narrow]):
        return problem
    seed = choices.seed()
    shared = problem.memory == "expanded"  # of numbers that other numbers would not share
    added = problem.softcap is not None or problem.biased
    if shared or not problem.v.size or (added and (kind == "scores" or not narrow)):
        return problem
    scale = None if problem.scale is None else 1.0
    plain = _with_added_zeros(problem, hidden=bool(seed % 2)).but(dlse=None, scale=scale)
    if kind == "scores":
        even = EVEN % scope.multiples.get("widths", 1) == 0
        return with_exact_scores(_of_even_width(plain) if even else plain, seed)
    some = Capability.LENGTHS in scope.answers and not problem.added and not scope.multiples
    return with_exact_gradients(_with_few_keys(plain) if some else plain, seed)


def _with_added_zeros(problem: Problem, hidden: bool) -> Problem:
    """The problem with sinks, slopes and biases that are zero.

    hidden: whether those of hidden keys stay as they are.
    """
    sinks, slopes, mask = problem.sinks, problem.slopes, problem.mask
    if mask is not None and mask.dtype != bool:
        zeros = np.zeros_like(mask)
        mask = np.where(np.isneginf(mask), mask, zeros) if hidden else zeros
    return problem.but(
        mask=mask,
        sinks=None if sinks is None else np.zeros_like(sinks),
        slopes=None if slopes is None else np.zeros_like(slopes),
    )


def _of_even_width(problem: Problem) -> Problem:
    """The problem with a D whose default scale is a power of four, if it has that scale."""
    if problem.scale is not None or halved(problem.sigma):
        return problem
    q, k = (np.zeros((*x.shape[:-1], EVEN)) for x in (problem.q, problem.k))
    if problem.E != problem.D:
        return problem.but(q=q, k=k)
    v, dout = (np.zeros((*x.shape[:-1], EVEN)) for x in (problem.v, problem.dout))
    return problem.but(q=q, k=k, v=v, dout=dout)


def _with_few_keys(problem: Problem) -> Problem:
    """The problem with a power of two of keys and sinks, if no option hides any of its keys."""
    near = problem.window != UNBOUNDED or problem.query_segments is not None
    masked = problem.mask is not None and (problem.mask.dtype == bool or problem.mask.any())
    if masked or problem.causal or near:
        return problem
    more = int(problem.sinks is not None)
    return problem.part("M", np.arange(2 ** int(np.log2(problem.M + more)) - more))


def with_exact_scores(problem: Problem, seed: int) -> Problem:
    """The problem with scores that are integers times the scale, and values that show the weights.

    The output sums the weights of every E-th key. Where the scale is no power of four, an eager
    program rounds its square root, and the problem is unchanged.
    """
    if not halved(problem.sigma) or not problem.M:
        return problem
    chance, D, E = Stream(seed), problem.D, problem.E
    columns = 8 if problem.sigma <= WIDEST_SCALE else 2
    some = np.isin(np.arange(D), chance.permutation(D)[:columns])
    q, k = (np.where(some, _integers(chance, x.shape, 3), 0.0) for x in (problem.q, problem.k))
    turn = chance.below(max(E, problem.M))
    v = (np.arange(problem.M)[:, None] + turn) % max(E, 2) == np.arange(E)
    return problem.but(q=q, k=k, v=np.broadcast_to(v, problem.v.shape).astype(np.float64))


def with_exact_gradients(problem: Problem, seed: int) -> Problem:
    """The problem with scores of zero, as queries and keys have no column in common.

    In half of them one query of a head alone has a cotangent, so that nothing cancels in dk and dv.
    It is unchanged where no query sees a power of two of keys.
    """
    chance, D, E = Stream(seed), problem.D, problem.E
    mine = np.arange(D) % 2 == chance.below(2)
    q, k = _integers(chance, problem.q.shape, 3), _integers(chance, problem.k.shape, 3)
    v, dout = _integers(chance, problem.v.shape, 2), _integers(chance, problem.dout.shape, 1)
    first = chance.integers(0, max(E, 1), (*dout.shape[:3], 1))
    few = (np.arange(E) + first) % max(E, 1) < 2  # so that <dout, v> has few bits
    dout = np.where(few, dout, 0.0)
    flat = problem.but(q=np.where(mine, q, 0.0), k=np.where(mine, 0.0, k), v=v, dout=dout)
    rows = exact_rows(bounds(flat).scores) & dout.any(axis=-1, keepdims=True)
    if chance.below(2):
        turn = chance.integers(1, 2**20, rows.shape) * rows
        rows &= turn == turn.max(axis=-2, keepdims=True, initial=1)
    return flat.but(dout=np.where(rows, dout, 0.0)) if rows.any() else problem


def _integers(chance: Stream, shape: Sequence[int], most: int) -> Array:
    return chance.integers(-most, most + 1, tuple(shape)).astype(np.float64)
