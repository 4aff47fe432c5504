"""Problems that are larger than those of all clauses, of which some rows are compared."""

import secrets
from math import sqrt

import numpy as np

from spec.attention import moves, rounding
from spec.attention.notation import Problem
from spec.attention.plug.narrowing import fitted
from spec.attention.record import Implementation
from spec.comparison import equal
from spec.notation import Grade

HEADS = ((1, 1), (1, 2), (2, 1), (2, 2), (1, 4))  # sequences, and heads of each
STEP = 128  # that lengths are multiples of
WIDTH, ROWS = 16, 8


def at_large(attention: Implementation, dtype: str, grade: Grade, scores: float) -> None:
    """Raise Violation if rows of a problem of about so many scores differ from the definition.

    The sequences, the heads, the numbers and the rows are drawn, and nobody knows them beforehand.
    """
    B, H = secrets.choice(HEADS)
    N = STEP * -int(-sqrt(scores / (B * H)) // STEP)
    chance = np.random.default_rng(secrets.randbits(64))
    q, k, v, dout = (chance.standard_normal((B, H, N, WIDTH)) for _ in range(4))
    problem = fitted(attention, Problem(q=q, k=k, v=v, dout=dout, dtype=dtype, rounding=grade))
    o = attention.forward(problem)

    rows = np.sort(chance.choice(problem.N, min(ROWS, problem.N), replace=False))
    some = moves.of_queries(moves.written_out(problem) if problem.causal else problem, rows)
    equal(o[:, :, rows], rounding.reference(some).o, within=rounding.of_output(some))
