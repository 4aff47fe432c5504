"""Ways to make a problem of a layer simpler.

A head owns rows of three projections and columns of the fourth, and its columns of
queries go with it, as all heads together are as wide as a query.
"""

from collections.abc import Iterator

import numpy as np

from spec.layer import moves
from spec.layer.notation import INPUTS, LayerProblem
from spec.simplify import FAR, Simplification, kept, simpler


def batches(problem: LayerProblem) -> Iterator[LayerProblem]:
    """Fewer batch elements, with their heads' masks."""
    for index in kept(problem.B):
        yield moves.of_batch(problem, *index)


def lengths(problem: LayerProblem) -> Iterator[LayerProblem]:
    """Fewer queries and keys at once, if there are as many; fewer queries, and fewer keys."""
    if problem.N == problem.M and problem.arrays > 1:
        for index in kept(problem.N):
            yield problem.part("N", index).part("M", index)
    for index in kept(problem.N):
        yield problem.part("N", index)
    for index in kept(problem.M) if problem.arrays > 1 else ():
        yield problem.part("M", index)


def heads(problem: LayerProblem) -> Iterator[LayerProblem]:
    """Fewer key heads, with the heads that read them; heads with a key head each; narrower ones."""
    H, G, D = problem.H, problem.key_heads, problem.D
    for index in kept(G):
        readers = (index[:, None] * (H // G) + np.arange(H // G)).reshape(-1)
        own = (np.arange(problem.B)[:, None] * H + readers).reshape(-1)
        part = problem.part("BH", own)
        yield moves.of_columns(
            part, moves.columns(readers, D), moves.columns(index, D), len(readers)
        )
    if G != H:
        keys = moves.columns(np.repeat(np.arange(G), H // G), D)
        yield moves.of_columns(problem, np.arange(problem.A), keys, H)
    for index in kept(D):
        own, keys = (moves.columns(np.arange(n), D, index) for n in (H, G))
        yield moves.of_columns(problem, own, keys, H)


def widths(problem: LayerProblem) -> Iterator[LayerProblem]:
    """Narrower keys and values, where they have widths of their own."""
    if not problem.own_widths:
        return
    weights, p = {"key": "W_k", "value": "W_v"}, problem.parameters
    for name in problem.distinct[1:]:
        read_as = [x for x, given in zip(INPUTS, problem.given, strict=True) if given == name]
        x = getattr(problem, name)
        for index in kept(x.shape[2]):
            narrower = {weights[at]: getattr(p, weights[at])[:, index] for at in read_as}
            yield problem.but(**{name: x[..., index]}).of(**narrower)


def options(problem: LayerProblem) -> Iterator[LayerProblem]:
    """An option less, or a plainer one."""
    if problem.biases:
        yield problem.of(**dict.fromkeys(problem.biases))
    for name in ("padding", "mask", "causal", "arrays", "batched", "training", "asks", "seed"):
        x, plain = getattr(problem, name), getattr(LayerProblem, name)
        if isinstance(x, np.ndarray) or x != plain:
            yield problem.but(**{name: plain})


def masks(problem: LayerProblem) -> Iterator[LayerProblem]:
    """A mask for all heads alike, masks that forbid less, and plainer numbers in them."""
    mask = problem.mask
    if mask is not None and mask.ndim == 3:
        yield problem.but(mask=mask[0])
    for name in ("padding", "mask"):
        x = getattr(problem, name)
        if x is None:
            continue
        if x.dtype != bool:
            yield from (problem.but(**{name: other}) for other in simpler(x))
        elif x.size <= FAR:
            for place in np.argwhere(x):
                changed = x.copy()
                changed[tuple(place)] = False
                yield problem.but(**{name: changed})


def numbers(problem: LayerProblem) -> Iterator[LayerProblem]:
    """Simpler numbers in inputs and parameters."""
    for name in ("dout", *reversed(problem.distinct)):
        for x in simpler(getattr(problem, name)):
            yield problem.but(**{name: x})
    for name, x in problem.parameters.named().items():
        yield from (problem.of(**{name: other}) for other in simpler(x))


WAYS: tuple[Simplification, ...] = (batches, heads, lengths, widths, options, masks, numbers)
