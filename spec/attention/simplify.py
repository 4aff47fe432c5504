"""Ways to make an attention problem simpler; each offers smaller ones, the smallest first."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from spec.attention.contents import UNBOUNDED
from spec.attention.moves import of_groups, placed
from spec.attention.notation import Problem
from spec.attention.options import ARRAYS, PARAMETERS
from spec.notation import Array
from spec.simplify import FAR, Simplification, kept, simpler


def batches(problem: Problem) -> Iterator[Problem]:
    """Fewer batch elements."""
    for index in kept(problem.B):
        yield problem.part("B", index)


def heads(problem: Problem) -> Iterator[Problem]:
    """Fewer key heads, with the query heads that read them; then smaller groups."""
    if not problem.G:
        return
    group = problem.H // problem.G
    for index in kept(problem.G):
        yield of_groups(problem, index)
    for index in kept(group):
        readers = (np.arange(problem.G)[:, None] * group + index).reshape(-1)
        yield problem.part("H", readers)


def along(one: str, other: str, problem: Problem) -> Iterator[Problem]:
    """Fewer places along two axes: along both where they are as long, and along each."""
    length = getattr(problem, one)
    if length == getattr(problem, other):
        yield from (problem.part(one, index).part(other, index) for index in kept(length))
    for axis in (one, other):
        yield from (problem.part(axis, index) for index in kept(getattr(problem, axis)))


def options(problem: Problem) -> Iterator[Problem]:
    """An option less, or a plainer one."""
    for parameter in PARAMETERS:
        yield from parameter.less(problem)
    yield from places(problem)
    if problem.memory != "contiguous":
        yield problem.but(memory="contiguous")
    if problem.mask is not None and problem.mask.dtype == np.float32:
        yield problem.but(mask=problem.mask.astype(np.float64))
    yield from (problem.but(page=x) for x in (0, 1, 2) if x < problem.page)
    yield from (problem.but(added=x) for x in (0, 1) if x < problem.added)
    yield from (problem.but(spare=x) for x in (0, 1) if x < problem.spare)
    if problem.seed:
        yield problem.but(seed=0)


def places(problem: Problem) -> Iterator[Problem]:
    """Positions of one side alone, as those of the other are its rows; the same nearer to zero."""
    both = placed(problem)
    p, r = both.query_positions, both.key_positions
    if p is None or r is None or not p.size or not r.size:
        return
    if problem.query_positions is not None and problem.key_positions is not None:
        yield from (problem.but(**{x: None}) for x in ("query_positions", "key_positions"))
    least = min(p.min(), r.min())
    if least:
        yield both.but(query_positions=p - least, key_positions=r - least)


def standing(problem: Problem) -> Iterator[dict[str, Array | None]]:
    """Positions: none, those of the rows, as behind a cache, and all at one place."""
    yield dict.fromkeys(("query_positions", "key_positions"))
    i, j = (np.tile(np.arange(size), (problem.B, 1)) for size in (problem.N, problem.M))
    for p, r in ((i, j), (i + problem.M, j), (0 * i, 0 * j)):
        yield {"query_positions": p, "key_positions": r}


def texts(problem: Problem) -> Iterator[dict[str, Array | None]]:
    """Segments: none, one text, two of them, and padding behind one."""
    yield dict.fromkeys(("query_segments", "key_segments"))
    for first, second in ((0, 0), (0, 1), (0, -1)):
        yield {
            name: np.tile(
                np.where(np.arange(size) < (size + 1) // 2, first, second), (problem.B, 1)
            )
            for name, size in (("query_segments", problem.N), ("key_segments", problem.M))
        }


def twists(problem: Problem) -> Iterator[Problem]:
    """Another option: each that there is, asked for or not, and another memory."""
    rows = np.ones((problem.N, problem.M), dtype=bool)
    seen = np.broadcast_to(rows, (problem.B, problem.H, *rows.shape))
    half = np.arange(problem.M) < (problem.M + 1) // 2
    one = np.arange(problem.N)[:, None] > 0
    yield from (problem.but(scale=x) for x in (None, 0.5, 2.0, 0.0, -0.25))
    yield from (problem.but(window=x) for x in (UNBOUNDED, (None, 0), (0, None), (1, 1)))
    yield from (problem.but(softcap=x) for x in (None, 0.5, 4.0))
    yield from (
        problem.but(sinks=x) for x in (None, np.zeros(problem.H), np.arange(problem.H) / 2 + 1)
    )
    steep = np.exp2(-np.arange(problem.H))
    yield from (problem.but(slopes=x) for x in (None, steep, -steep))
    yield from (problem.but(**x) for x in (*texts(problem), *standing(problem)))
    yield from (problem.but(memory=x) for x in ("contiguous", "strided", "transposed"))
    yield from (problem.but(page=page, added=x) for page in (0, 1, 3) for x in (0, 1, 2))
    yield from (problem.but(spare=x) for x in (0, 1))
    yield from (problem.but(dlse=x) for x in (None, np.ones(problem.q.shape[:3])))
    for mask in (None, rows, seen & half, rows & one):
        for causal in (False, True):
            yield problem.but(mask=mask, causal=causal)
            if mask is not None:
                yield problem.but(mask=np.where(mask, 0.0, -np.inf), causal=causal)
    yield problem.but(mask=np.where(half, 0.5, -1.0) * rows)
    if problem.mask is not None:  # no key is hidden any more
        visible = problem.mask if problem.mask.dtype == bool else np.isfinite(problem.mask)
        yield problem.but(mask=np.where(visible, 0.5, -1.0))
    if problem.G > 3:  # hardly any other problem has so many
        yield from (of_groups(problem, np.arange(G) % problem.G) for G in range(1, 10))
    both = max(problem.N, problem.M)
    if problem.N and problem.M:
        every = (np.arange(both) % length for length in (problem.N, problem.M))
        square = problem.but(mask=None).part("N", next(every)).part("M", next(every))
        yield from (square.but(causal=causal) for causal in (False, True))


def masks(problem: Problem) -> Iterator[Problem]:
    """A mask of fewer axes, one that forbids less, one with plainer numbers; so for all options."""
    for option in ARRAYS:
        x = option.value(problem)
        if x is not None:
            written = min(len(option.axes.split()), 3) - 1  # how many axes it has at least
            written = x.ndim if option.whole else written  # a segment for each token
            yield from (problem.but(**{option.name: other}) for other in _plainer(x, written))


def _plainer(x: Array, written: int) -> Iterator[Array]:
    """Of an array that is an option."""
    if len(x) and x.ndim > max(written, 1):
        yield x[0]
    for axis in range(x.ndim - 2):
        if x.shape[axis] > 1:
            yield x.take([0], axis=axis)
    plain = True if x.dtype == bool else 0.0
    if x.size <= FAR:
        for place in np.argwhere(x != plain):
            changed = x.copy()
            changed[tuple(place)] = plain
            yield changed
    if x.dtype.kind == "f":
        yield from simpler(x)


def numbers(problem: Problem) -> Iterator[Problem]:
    """Simpler numbers: zeros and ones, whole ones, fewer bits; all of an array, then one by one."""
    for name in ("dlse", "dout", "v", "k", "q"):
        x = getattr(problem, name)
        if x is not None:
            yield from (problem.but(**{name: other}) for other in simpler(x))


lengths, widths = partial(along, "N", "M"), partial(along, "D", "E")
WAYS: tuple[Simplification, ...] = (batches, heads, lengths, widths, options, masks, numbers)
