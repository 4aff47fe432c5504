"""Moves: how a clause changes a problem, with everything that has to change along.

Each returns a new problem. Selecting along an axis also selects in the mask, and in every option
that is an array with that axis written out. Causality and windows depend on positions, so a move
that changes positions first writes them into the mask (`written_out`), which then alone decides
what is masked. Segments are written into it too; otherwise they move with their tokens. ALiBi
slopes depend on positions as well. As a bias they may need more digits than a format has
(`with_slopes_as_a_bias`), so such a move is for problems without slopes. Given positions move with
their tokens if both sides have them (`placed`), and need not be written out.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from spec.attention import definition
from spec.attention.contents import NOTHING_HIDDEN
from spec.attention.notation import Problem
from spec.formats import rounded
from spec.notation import Array, Index


def written_out(problem: Problem) -> Problem:
    """The same problem with all that masks keys as one mask (B, H, N, M)."""
    if problem.mask is not None and problem.mask.dtype != bool:
        mask: Array = np.where(problem.allowed, problem.mask, -np.inf)
    else:
        mask = problem.allowed
    return problem.but(mask=mask, **_nothing_hidden(problem))


def _nothing_hidden(problem: Problem) -> Mapping[str, Any]:
    """Options that mask no key; segments stay if positions restart in each, for slopes."""
    texts = {"query_segments": problem.query_segments, "key_segments": problem.key_segments}
    return {**NOTHING_HIDDEN, **(texts if problem.restarts else {})}


def placed(problem: Problem) -> Problem:
    """The same problem with positions of both sides, if it has those of one: it counts from 0.

    Without any, it stays as it is: alignment may differ between windows and causality.
    """
    if not problem.placed:
        return problem
    given = (problem.query_positions, problem.N), (problem.key_positions, problem.M)
    p, r = (np.tile(np.arange(n), (problem.B, 1)) if x is None else x for x, n in given)
    return problem.but(query_positions=p, key_positions=r)


def with_slopes_as_a_bias(problem: Problem) -> Problem:
    """The problem with all biases and masked keys in one mask (B, H, N, M), and no slopes.

    The biases are rounded to the format of the problem, in which functions get their masks.
    """
    mask = np.where(problem.allowed, rounded(problem.bias, problem.dtype), -np.inf)
    return problem.but(mask=mask, slopes=None, **NOTHING_HIDDEN)


def of_keys(problem: Problem, index: Index) -> Problem:
    """The keys `index`, in that order, with their values and columns of the mask."""
    return problem.part("M", index)


def of_queries(problem: Problem, index: Index) -> Problem:
    """The queries `index`, in that order, with their cotangents and rows of the mask."""
    return problem.part("N", index)


def of_batch(problem: Problem, index: Index) -> Problem:
    """The batch elements `index`, in that order."""
    return problem.part("B", index)


def of_heads(problem: Problem, index: Index) -> Problem:
    """The query heads `index`, in that order, with their cotangents and slices of the mask."""
    return problem.part("H", index)


def of_groups(problem: Problem, index: Index) -> Problem:
    """The key heads `index`, in that order, each with all the query heads that read it."""
    heads = np.arange(problem.H).reshape(problem.G, -1)[index].reshape(-1)
    return problem.part("H", heads).part("G", index)


def of_one_key_head_each(problem: Problem) -> Problem:
    """Every key head repeated for each query head that reads it: G = H."""
    k, v = (definition.shared(x, problem.H) for x in (problem.k, problem.v))
    return problem.but(k=k, v=v)


def with_values(problem: Problem, v: Array) -> Problem:
    """Other values, of any width; the cotangent becomes zero where it no longer fits."""
    if v.shape[-1] == problem.E:
        return problem.but(v=v)
    return problem.but(v=v, dout=np.zeros((*problem.q.shape[:3], v.shape[-1])))


def with_bias(problem: Problem, bias: Array) -> Problem:
    """`bias`, broadcastable to (B, H, N, M), added to the scores instead of the given mask.

    Masked keys stay masked, by -inf. Slopes stay as well, as no position changes.
    """
    return problem.but(mask=np.where(problem.allowed, bias, -np.inf), **_nothing_hidden(problem))


def with_the_sink_as_a_key(problem: Problem) -> Problem:
    """The same problem with the sink as one more key, of value zero, which is never masked.

    Raises ValueError if a bias is soft-capped as well: the sink would be, too.
    """
    assert problem.sinks is not None
    if problem.softcap is not None and problem.caps_bias and problem.bias.any():
        raise ValueError(
            "what a cap does to a sum, it does to no sink: they are not judged together"
        )
    written = np.where(problem.allowed, problem.bias, -np.inf)
    sink = np.broadcast_to(problem.sinks[:, None, None], (*written.shape[:-1], 1))
    k, v = (np.pad(x, ((0, 0), (0, 0), (0, 1), (0, 0))) for x in (problem.k, problem.v))
    return problem.but(
        k=k,
        v=v,
        mask=np.concatenate([written, sink], axis=-1),
        sinks=None,
        slopes=None,
        query_positions=None,
        key_positions=None,
        caps_bias=False,
        **NOTHING_HIDDEN,
    )


def permutation(problem: Problem, length: int) -> Array:
    """A permutation of `length` positions, from the seed; not the identity if avoidable."""
    order = problem.chance().permutation(length)
    return np.roll(order, 1) if (order == np.arange(length)).all() else order


def unshared(problem: Problem) -> Problem:
    """The same problem, with no memory layout that depends on equal numbers.

    Such a layout changes with the numbers, and other strides may change the order of a sum.
    """
    return problem.but(memory="contiguous") if problem.memory == "expanded" else problem
