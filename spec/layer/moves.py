"""Ways from one layer problem to another, of which the clauses compare the two ends."""

import numpy as np

from spec.layer import definition
from spec.layer.notation import LayerProblem, Parameters
from spec.notation import Array

ROWS = ("W_q", "W_k", "W_v", "b_q", "b_k", "b_v")  # a head owns rows of these


def rows(problem: LayerProblem, head: int) -> slice:
    """The rows of W_q, W_k and W_v, and the columns of W_o, that a head owns."""
    return slice(head * problem.D, (head + 1) * problem.D)


def taken(parameters: Parameters, index: Array) -> Parameters:
    """Rows `index` of the three projections, and the same columns of W_o."""
    named = parameters.named()
    found = {name: named[name][index] for name in ROWS if name in named}
    return parameters.but(W_o=parameters.W_o[:, index], **found)


def scaled(parameters: Parameters, **factors: Array) -> Parameters:
    """Rows of W_q, W_k and W_v and their biases, and columns of W_o, times numbers.

    factors: for q, k, v or o, a number for each row or column.   (A)
    """
    found = {}
    for place, by in factors.items():
        W = getattr(parameters, f"W_{place}")
        found[f"W_{place}"] = W * by if place == "o" else W * by[:, None]
        b = getattr(parameters, f"b_{place}")
        if b is not None and place != "o":
            found[f"b_{place}"] = b * by
    return parameters.but(**found)


def asking_nothing(problem: LayerProblem) -> LayerProblem:
    """The same problem with queries of zero, to which all keys are alike."""
    named = problem.parameters.named()
    return problem.of(**{x: np.zeros_like(named[x]) for x in ("W_q", "b_q") if x in named})


# Products of a query and a key that are as far from zero as scores are asked for: of float16, whose
# range is soon at its end, two thirds of it, so that times log2(e) they are numbers still.
FAR = {"float64": 2.0**1019, "float32": 2.0**124, "bfloat16": 2.0**124, "float16": 11 * 2.0**12}


def outscored(problem: LayerProblem) -> LayerProblem:
    """Each query sees one key alone, of a score as low as can be; the next has one as high.

    A head reads the first column of queries and keys, which is 1 and -1 by turns, and no other.
    """
    seen, turns = np.arange(problem.N) % problem.M, (-1.0) ** np.arange(problem.M)
    query, key = problem.query.copy(), problem.key.copy()
    query[..., 0], key[..., 0] = turns[seen], turns
    far, D = FAR[problem.dtype], problem.D
    of_keys = 2.0 ** (np.log2(far) // 2)
    flat = asking_nothing(problem).parameters
    named = {name: np.zeros_like(x) for name, x in flat.named().items() if name[2:] in "qk"}
    named["W_q"][::D, 0], named["W_k"][::D, 0] = far / of_keys, -of_keys
    mask = np.arange(problem.M) != seen[:, None]
    return problem.but(query=query, key=key, mask=mask).of(**named)


def of_batch(problem: LayerProblem, *elements: int) -> LayerProblem:
    """These batch elements alone, with the masks of their heads."""
    own = np.arange(problem.B * problem.H).reshape(problem.B, -1)[list(elements)].reshape(-1)
    return problem.part("B", list(elements)).part("BH", own)


def of_queries(problem: LayerProblem, index: Array) -> LayerProblem:
    """Only the queries `index`, in this order; keys and values stay as they are."""
    return problem.but(arrays=3).part("N", index)


def of_keys(problem: LayerProblem, index: Array) -> LayerProblem:
    """Only the keys `index` and their values, in this order."""
    return problem.but(arrays=3).part("M", index)


def one_mask(problem: LayerProblem) -> LayerProblem:
    """Padding and mask as one mask for every head of every batch element; True forbids."""
    shape = (problem.B, problem.H, problem.N, problem.M)
    mask = problem.mask if problem.mask is not None else np.zeros(shape[2:], dtype=bool)
    full = np.broadcast_to(mask.reshape(-1, *shape[2:]), (problem.B * problem.H, *shape[2:]))
    if problem.padding is not None:
        hidden = np.repeat(problem.padding, problem.H, axis=0)[:, None, :]
        full = full | hidden if full.dtype == bool else np.where(hidden, -np.inf, full)
    return problem.but(mask=full.copy(), padding=None)


def idle(problem: LayerProblem) -> Array:
    """True for a query that may attend to no key, in any head.   (B, N)"""
    return np.asarray(definition.inside(problem).idle.all(axis=1))


def columns(heads: Array, D: int, within: Array | None = None) -> Array:
    """The columns of some heads of width D; within: which of each, None for all."""
    within = np.arange(D) if within is None else within
    return np.asarray((heads[:, None] * D + within).reshape(-1))


def of_columns(problem: LayerProblem, index: Array, keys: Array, count: int) -> LayerProblem:
    """The same columns of queries, outputs and heads; of keys and values, if they are as wide.

    keys: the columns of the key heads.
    """
    p = problem.parameters
    of_keys = ("W_k", "W_v", "b_k", "b_v")
    found = {name: x[keys if name in of_keys else index] for name, x in p.named().items()}
    found |= {name: found[name][:, index] for name in ("W_q", "W_o")}
    changes = {name: getattr(problem, name)[..., index] for name in ("query", "dout")}
    if not problem.own_widths:
        found |= {name: found[name][:, index] for name in ("W_k", "W_v")}
        changes |= {name: getattr(problem, name)[..., index] for name in ("key", "value")}
    return problem.but(**changes, parameters=Parameters(**found), heads=count)


def sized(problem: LayerProblem, A: int, H: int) -> LayerProblem:
    """The problem with other sizes: its heads and their columns again and again, or some."""
    if (problem.A, problem.H) == (A, H) or problem.own_widths or problem.key_heads != problem.H:
        return problem
    heads = np.arange(H) % problem.H
    index = columns(heads, problem.D, np.arange(A // H) % problem.D)
    of_batches = (np.arange(problem.B)[:, None] * problem.H + heads).reshape(-1)
    return of_columns(problem.part("BH", of_batches), index, index, H)
