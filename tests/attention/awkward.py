"""A fixed family of awkward problems: on at least one of them, every mistake shows.

They are random numbers of ordinary size, unless said otherwise, in shapes whose axes have different
sizes: what is needed is the option, shape or magnitude that somebody did not think of.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np

from spec.attention.clauses.biases import LOW
from spec.attention.notation import Problem
from spec.formats import FORMATS, rounded
from spec.notation import Array
from tests.attention.awkward_places import kept, packed, standing, windowed
from tests.attention.drawing import biases, draw, permits
from tests.attention.in_domain import in_domain


def idle_rows() -> Array:
    """Idle queries at the start of one head, and in the middle of another."""
    mask = permits(2, 4, 5, 7)
    mask[0, 0, :2] = mask[1, 2, 3] = False
    return mask


def far_below() -> Problem:
    """Every score is near -62500, and every key but the first two may be forbidden."""
    mask = np.broadcast_to(np.arange(7) < 2, (5, 7))
    problem = draw(D=1, mask=mask)
    return problem.but(q=np.full_like(problem.q, 250.0), k=np.sign(problem.k) - 250.0, scale=1.0)


def ascending() -> Problem:
    """Later keys score higher, by more than the exponential can take."""
    problem = draw(B=1, H=2, G=1, N=3, M=100, D=1)
    k = np.broadcast_to(np.arange(100.0)[:, None], problem.k.shape)
    return problem.but(q=1 + np.abs(problem.q), k=2 * k)


def low() -> Problem:
    """Every bias of a row is far below zero, and every value above it."""
    mask = -(2.0**14) * np.where(permits(5, 7), 1, 2)
    mask[-1] = -(2.0**100)
    problem = draw(mask=mask)
    return problem.but(v=1 + np.abs(problem.v))


def lower_than_hidden(dtype: str) -> Problem:
    """Keys that a causal query sees are as low as M27 has them, and others are not.

    It is no part of the family, as there is less room than two scores may want.
    """
    seen = np.tri(5, 7, dtype=bool)
    lowest = np.where(seen, -LOW * FORMATS[dtype].max, 0.0)
    return in_format(draw(mask=lowest, causal=True), dtype)


def large() -> Problem:
    """Equal scores, and values of which five are more than float16 can add."""
    problem = draw()
    return problem.but(q=np.zeros_like(problem.q), v=np.full_like(problem.v, 2.0**14))


def unmasked() -> Iterator[Problem]:
    """Problems without a mask: sizes, memory, orders of magnitude, scales."""
    yield draw()
    yield draw(size=30.0)
    yield draw(N=6, M=6, E=6)
    yield draw(N=7, M=5, H=2, G=2, D=1, E=1)
    yield draw(H=6, G=2)
    yield draw(H=3, G=3, N=9, M=1, memory="expanded")
    yield draw(N=1, M=1)
    yield draw(D=70, E=10, memory="strided")
    yield draw(D=3, E=5)
    yield draw(N=2, M=32)
    yield draw(N=2, M=33)
    yield draw(N=3, M=130, B=1, size=4.0)
    yield ascending()
    yield from (draw(scale=scale) for scale in (0.0, -0.7, 0.3, 2.0))


def odd() -> Iterator[Problem]:
    """Sizes that are at the edge of nothing."""
    yield draw(M=37)
    yield draw(N=91)
    yield draw(H=5, G=5)
    yield draw(D=56)
    yield draw(B=1, H=1, G=1, N=2, M=1030)
    yield draw(B=1, H=1, G=1, N=1030, M=2)


def causal() -> Iterator[Problem]:
    """Causal problems, most of them with N != M."""
    yield draw(H=6, G=2, N=6, M=6, causal=True, memory="transposed")
    yield draw(B=1, H=1, G=1, N=6, M=11, causal=True, memory="offset")
    yield draw(N=8, M=5, causal=True)
    yield draw(N=40, M=64, H=2, G=1, causal=True)


def masked() -> Iterator[Problem]:
    """Boolean masks in every form, some with causality, some with idle queries."""
    yield draw(mask=permits(2, 4, 5, 7))
    yield draw(mask=permits(2, 4, 5, 7), size=30.0)
    yield draw(mask=permits(2, 4, 5, 7), size=2.0**107)
    yield draw(H=2, G=2, mask=permits(2, 2, 5, 7))
    yield draw(B=3, H=2, G=2, N=67, M=4, mask=permits(67, 4))
    yield draw(mask=permits(2, 1, 5, 7), causal=True)
    yield draw(mask=permits(4, 5, 7, live=False), causal=True)
    yield draw(N=7, mask=permits(2, 1, 1, 7), H=6, G=3)
    yield draw(N=7, mask=permits(7, 7), causal=True)
    yield draw(mask=np.tile(np.arange(7) < 3, (5, 1)))
    yield draw(B=1, H=1, G=1, N=2, M=130, mask=np.arange(130) < 127)
    yield draw(B=1, H=1, G=1, N=2, M=1030, mask=np.arange(1030) > 1025)
    yield draw(mask=idle_rows())
    yield draw(mask=idle_rows(), size=30.0)
    yield far_below()


def biased() -> Iterator[Problem]:
    """Additive masks, each broadcast along some axis."""
    yield draw(N=7, mask=biases(2, 1, 7, 7))
    yield draw(mask=biases(5, 7), causal=True, scale=0.3)
    yield draw(mask=np.maximum(biases(4, 1, 7), -3.0), size=3.0)
    yield low()


def capped() -> Iterator[Problem]:
    """Caps that scores go beyond, and that they do not reach, alone and beside everything else."""
    yield draw(size=4.0, softcap=1.0)
    yield draw(softcap=8.0, scale=0.3)
    yield draw(softcap=2.0**14)
    yield draw(N=7, size=4.0, softcap=2.0, causal=True)
    yield draw(N=7, size=4.0, softcap=2.0, window=(2, 1))
    yield draw(size=4.0, softcap=2.0, mask=permits(2, 4, 5, 7))
    yield draw(size=4.0, softcap=2.0, mask=biases(2, 4, 5, 7))


def sunk() -> Iterator[Problem]:
    """Sinks about as large as scores and far from them, alone and beside everything else."""
    t = np.array([0.5, -1.0, 2.0, 1.25])
    yield draw(sinks=t)
    yield draw(size=4.0, sinks=t + 30.0)
    yield draw(size=4.0, sinks=np.array([0.5, -np.inf, 30.0, -30.0]))
    yield draw(H=4, G=2, sinks=t, scale=0.3)
    yield draw(N=1, sinks=t)
    yield draw(N=7, sinks=t, causal=True)
    yield draw(N=7, sinks=t, window=(2, 1))
    yield draw(size=4.0, sinks=t, softcap=2.0)
    yield draw(sinks=t, mask=permits(2, 4, 5, 7))
    yield draw(sinks=np.array([0.5, -np.inf, -np.inf, 2.0]), mask=idle_rows())
    yield draw(sinks=t, mask=biases(2, 4, 5, 7))
    yield draw(B=1, H=2, G=1, N=70, M=70, sinks=t[:2])
    yield low().but(sinks=np.array([0.5, -np.inf, -(2.0**14), 2.0]))


def slanted() -> Iterator[Problem]:
    """Slopes of both signs, steep ones, none and those of a sequence, beside everything else."""
    m = np.array([0.5, -0.125, 2.0, 0.25])
    yield draw(slopes=m)
    yield draw(size=4.0, slopes=np.array([16.0, 0.0, -1.0, 4.0]))
    yield draw(N=9, M=5, H=4, G=2, slopes=m, scale=0.3)
    yield draw(slopes=np.stack([m, 1 - m]))
    yield draw(N=1, slopes=m)
    yield draw(N=7, slopes=m, causal=True)
    yield draw(N=7, slopes=m, window=(2, 1))
    yield draw(size=4.0, slopes=m, softcap=2.0)
    yield draw(slopes=m, sinks=np.array([0.5, -1.0, -np.inf, 1.25]))
    yield draw(slopes=m, mask=idle_rows())
    yield draw(slopes=m, mask=biases(2, 4, 5, 7))
    yield draw(B=1, H=2, G=1, N=70, M=70, slopes=m[2:] / 8)


@cache
def family(dtype: str) -> tuple[Problem, ...]:
    """The awkward problems in numbers of `dtype`; in 16 bits only those that fit."""
    simple, of_scores = (*unmasked(), *odd(), *causal()), (*capped(), *sunk(), *slanted())
    hidden = (*windowed(), *kept(), *standing(), *packed(), *masked(), *biased())
    found = [in_format(x, dtype) for x in (*simple, *of_scores, *hidden, large())]
    return tuple(problem for problem in found if in_domain(problem))


def empty(dtype: str) -> tuple[Problem, ...]:
    """A problem for each axis, of which the size is zero; an empty mask, and one in float32; and
    large queries.
    """
    found = [draw(**{axis: 0}) for axis in "BNME"]
    found.append(draw(M=0, mask=np.ones((5, 0), dtype=bool)))
    fitting = [in_format(problem, dtype) for problem in found]
    nobody = fitting["BNME".index("M")]
    large = nobody.but(q=np.full_like(nobody.q, FORMATS[dtype].max))
    biased = in_format(draw(mask=biases(2, 4, 5, 7)), dtype)
    assert biased.mask is not None
    return (*fitting, biased.but(mask=biased.mask.astype(np.float32)), large)


def long(dtype: str) -> tuple[Problem, Problem]:
    """70 000 keys, of which the first and the last have much weight; and as many queries.

    The second of two queries weighs all keys alike. Of many, the first and the last have a
    cotangent. They are no part of the family, as they take their time.
    """
    keys = draw(B=1, H=1, G=1, N=2, M=70_001, D=2)
    q, k = keys.q.copy(), keys.k.copy()
    q[..., 0, :], q[..., 1, :] = (4, 0), 0
    k[..., [0, -1], 0] = np.log(keys.M) * np.sqrt(keys.D) / 4
    keys = keys.but(q=q, k=k, v=keys.v + 1)
    queries = draw(B=1, H=1, G=1, N=70_001, M=2, D=2)
    ends = np.isin(np.arange(queries.N), (0, queries.N - 1))
    queries = queries.but(dout=queries.dout * ends[:, None])
    return in_format(keys, dtype), in_format(queries, dtype)


def seldom() -> Iterator[Problem]:
    """What few programs treat in a way of their own: a length, a single query, a hidden tile.

    They are no part of the family, as few mistakes show in them.
    """
    yield draw(M=41)
    yield draw(N=1, M=9, H=6, G=2)
    yield draw(N=1, window=(2, 1))
    low = draw(N=2, M=17, D=1, causal=True)
    yield low.but(q=np.full_like(low.q, 16.0), k=np.sign(low.k) / 8 - 128)


def beside(dtype: str) -> tuple[Problem, ...]:
    """The problems that are no part of the family."""
    return (lower_than_hidden(dtype), *long(dtype), *(in_format(x, dtype) for x in seldom()))


def in_format(problem: Problem, dtype: str) -> Problem:
    """The problem in numbers of `dtype`."""
    arrays = {name: getattr(problem, name) for name in ("q", "k", "v", "dout", "mask")}
    numbers = {name: x for name, x in arrays.items() if x is not None and x.dtype != bool}
    fitting = {name: rounded(x, dtype) for name, x in numbers.items()}
    return problem.but(dtype=dtype, **fitting)
