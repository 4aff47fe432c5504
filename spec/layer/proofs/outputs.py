"""Theorems about the output of the definition, for all numbers at small sizes.

Each head has its blocks of the projections, and may be turned: a matrix moves from one projection
to another, and the output does not see it. Written without its inverse, that says

    y(S W_q, S b_q; W_k, b_k) = y(W_q, b_q; S^T W_k, S^T b_k)

for every S, and for an invertible one, with S^-T W_k in the place of W_k, that queries may
be turned if keys are turned back. A diagonal S is its own transpose.
"""

import numpy as np

from spec.attention import definition as attention
from spec.attention.notation import Problem
from spec.layer import definition, moves
from spec.layer.notation import LayerProblem
from spec.layer.proofs.formulas import of_itself, symbolic
from spec.notation import Array
from spec.proving.formulas import Formulas, residual, symbols
from spec.proving.theorem import proved_at

KEYS = "1 query, 2 keys and values of width 1, all biases, no mask"
HEADS = "2 heads of width 2, " + KEYS
TURNED = HEADS + "; any 2 x 2 matrix for each head"


def head(problem: LayerProblem, h: int) -> Array:
    """o_h: attention with the blocks of one head, and nothing of the others.   (B, 1, N, D)"""
    p, own = problem.parameters.named(), moves.rows(problem, h)
    inputs = zip("qkv", (problem.query, problem.key, problem.value), strict=True)
    q, k, v = ((x @ p[f"W_{n}"][own].T + p[f"b_{n}"][own])[:, None] for n, x in inputs)
    return attention.attention(Problem(q, k, v, dout=0 * q))


def turned(S: Array, x: Array) -> Array:
    """The rows that each head owns, times the matrix of the head.   (H, D, D), (H D, ...)"""
    H, D, _ = S.shape
    return (S @ x.reshape(H, D, -1)).reshape(x.shape)


def turned_in(problem: LayerProblem, place: str, S: Array) -> LayerProblem:
    """One projection and its bias turned, head by head."""
    p = problem.parameters
    names = [f"W_{place}", f"b_{place}"]
    return problem.of(**{name: turned(S, getattr(p, name)) for name in names})


@proved_at("3 heads of width 2, " + KEYS, biases=3)
def the_output_is_a_sum_over_heads(biases: int = 1) -> Array:
    """y = sum_h o_h W_o,h^T + b_o, a loop over heads. The control: a bias for every head."""
    problem = symbolic(H=3, D=2)
    W, b = problem.parameters.W_o, problem.parameters.named()["b_o"]
    parts = [head(problem, h)[:, 0] @ W[:, moves.rows(problem, h)].T for h in range(problem.H)]
    return residual(definition.layer(problem), sum(parts, np.zeros(1)) + biases * b)


@proved_at(HEADS, reads=1)
def heads_do_not_meet(reads: int = 0) -> Array:
    """Other rows for head 1 do nothing where W_o reads head 0 only. The control reads both."""
    problem = symbolic(H=2, D=2)
    of = np.repeat([1, reads], problem.D)
    one = problem.of(W_o=problem.parameters.W_o * of)
    p, foreign = one.parameters, moves.rows(problem, 1)
    changed = {name: getattr(p, name).copy() for name in moves.ROWS}
    for name, x in changed.items():
        x[foreign] = symbols(f"other{name}", *x[foreign].shape)
    return residual(definition.layer(one), definition.layer(one.of(**changed)))


@proved_at(HEADS, columns=False)
def heads_move_with_their_blocks(columns: bool = True) -> Array:
    """Heads in another order, their columns of W_o too. The control leaves the columns."""
    problem = symbolic(H=2, D=2)
    p = problem.parameters
    moved = moves.taken(p, np.roll(np.arange(problem.A), problem.D))
    moved = moved if columns else moved.but(W_o=p.W_o)
    return residual(definition.layer(problem.but(parameters=moved)), definition.layer(problem))


@proved_at(TURNED, transpose=False)
def queries_turn_against_keys(transpose: bool = True) -> Array:
    """y(S W_q, S b_q; W_k, b_k) = y(W_q, b_q; S^T W_k, S^T b_k). The control: S, not S^T."""
    problem, S = symbolic(H=2, D=2), symbols("S", 2, 2, 2)
    back = S.swapaxes(1, 2) if transpose else S
    queries, keys = turned_in(problem, "q", S), turned_in(problem, "k", back)
    return residual(definition.layer(queries), definition.layer(keys))


@proved_at(TURNED, biased=False)
def values_turn_against_the_output(biased: bool = True) -> Array:
    """y(S W_v, S b_v; W_o) = y(W_v, b_v; W_o S). The control does not turn the bias."""
    problem, S = symbolic(H=2, D=2), symbols("S", 2, 2, 2)
    p = problem.parameters
    values = turned_in(problem, "v", S)
    values = values if biased else values.of(b_v=p.b_v)
    output = problem.of(W_o=turned(S.swapaxes(1, 2), p.W_o.T).T)
    return residual(definition.layer(values), definition.layer(output))


@proved_at("2 heads of width 1, 3 tokens in self-attention, all biases, no mask", causal=True)
def tokens_have_no_order(causal: bool = False) -> Array:
    """y(x in the order pi) = y(x) in the order pi, for a cycle pi. The control is causal."""
    problem, order = of_itself(H=2, N=3).but(causal=causal), [1, 2, 0]
    x = problem.query[:, order]
    moved = problem.but(query=x, key=x, value=x)
    return residual(definition.layer(moved), definition.layer(problem)[:, order])


@proved_at("2 heads of width 1, " + KEYS + "; 1 feature more", read=1)
def features_that_are_not_read_do_nothing(read: int = 0) -> Array:
    """y([key, x], [value, z]; [W_k, 0], [W_v, 0]) = y(key, value). The control reads them."""
    problem = symbolic(H=2)
    p, column = problem.parameters, np.full((problem.A, 1), read, dtype=object).view(Formulas)
    wider = problem.but(
        key=np.concatenate([problem.key, symbols("morekey", 1, 2, 1)], axis=2),
        value=np.concatenate([problem.value, symbols("morevalue", 1, 2, 1)], axis=2),
        parameters=p.but(
            W_k=np.concatenate([p.W_k, column], axis=1), W_v=np.concatenate([p.W_v, column], axis=1)
        ),
    )
    return residual(definition.layer(wider), definition.layer(problem))
