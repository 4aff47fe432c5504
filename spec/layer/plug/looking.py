"""A few calls of a layer that is not described yet, for its causality and what its masks mean.

A token is changed, and it is seen which outputs change with it.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from spec.layer.notation import LayerProblem
from spec.layer.plug.described import Form
from spec.notation import Array

FORMS = tuple(  # of masks, the plainest first
    f"{means} ({axes})"
    for axes in ("N, M", "B, M", "B, 1, N, M", "B, 1, 1, M", "B, N, M", "B, H, N, M")
    for means in ("seen", "hidden", "added")
)


def looks_back(wrapped: Any, problem: LayerProblem) -> bool | None:
    """Whether no output changes with a later token; None if the layer does not answer."""
    changes = _changes(wrapped, _plain(problem), -1)
    return None if changes is None else bool(changes[-1] and not changes[:-1].any())


def meaning(wrapped: Any, problem: LayerProblem, name: str) -> str:
    """The form of a mask under which a key that it hides does not change an output; "" for none.

    In a layer that mixes tokens in another place, as one that merges its heads wrongly does, each
    may change some: then the form under which the fewest outputs change, if it hides anything.
    name: the parameter of the call.
    """
    plain, found = _plain(problem), dict[str, int]()
    first = np.arange(plain.N) == 0
    rows, keys = first & ~first[:, None], np.broadcast_to(first, (plain.B, plain.N))
    for text in FORMS:
        told = replace(wrapped.told, masks={name: Form.of(text)})
        hides = {"mask": rows} if "N" in told.masks[name].axes else {"padding": keys}
        changes = _changes(replace(wrapped, told=told), plain.but(**hides), 0)
        if changes is not None:
            found[text] = int(changes[1:].sum())
        if found.get(text) == 0:
            return text
    every = _changes(wrapped, plain, 0) if found else None
    if every is None:
        return ""
    fewest = min(found, key=found.__getitem__)
    return fewest if found[fewest] < every[1:].sum() else ""


def _plain(problem: LayerProblem) -> LayerProblem:
    """The problem as one of self-attention, in which nothing is hidden."""
    return problem.but(arrays=1, mask=None, padding=None, causal=False)


def _changes(wrapped: Any, problem: LayerProblem, token: int) -> Array | None:
    """Which outputs are others if a token is; None if the layer does not answer, or NaN.   (N)

    No query of these problems is fully masked, unless a mask is understood the wrong way round.
    """
    query = problem.query.copy()
    query[:, token] += 1
    try:
        one, other = (wrapped.forward(x) for x in (problem, problem.but(query=query)))
    except Exception:  # it was a guess
        return None
    if np.isnan(one).any():
        return None
    return np.asarray(~np.isclose(one, other).all(axis=(0, 2)))
