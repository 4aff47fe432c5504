"""Features of numbers: how large scores, sums, weights and entries are, and how exact."""

from functools import lru_cache

import numpy as np

from spec import formats
from spec.attention import definition
from spec.attention.contents import NOTHING_HIDDEN
from spec.attention.notation import Problem
from spec.notation import Array

LITTLE = 1000  # what scores are worth
FAR = 10000 - LITTLE  # a penalty of ten thousand, less that
CLIPPED = 2.0**-92  # about exp(-64), below which some do not let a weight fall


@lru_cache(maxsize=16)
def _scores(problem: Problem) -> Array:
    return definition.scores(problem)


@lru_cache(maxsize=16)
def _ends(problem: Problem) -> tuple[float, float]:
    """The highest and the lowest score of a key that is seen, its bias included."""
    s = _scores(problem)
    seen = s[problem.allowed & np.isfinite(s)]
    return (float(seen.max()), float(seen.min())) if seen.size else (0.0, 0.0)


def above(limit: float, problem: Problem) -> bool:
    """Whether a key that is seen has a larger score."""
    return _ends(problem)[0] > limit


def below(limit: float, problem: Problem) -> bool:
    """Whether a key that is seen has a lower score."""
    return _ends(problem)[1] < limit


def beyond(limit: float, problem: Problem) -> bool:
    """Whether a key that is seen has a larger score, of either sign."""
    return above(limit, problem) or below(-limit, problem)


def sink_above_all(problem: Problem) -> bool:
    """Whether for some query the sink is the largest score of all."""
    if problem.sinks is None:
        return False
    largest = _scores(problem).max(axis=-1, initial=-np.inf)
    return bool((problem.sinks[:, None] > largest).any())


def apart(problem: Problem) -> bool:
    """Whether the weights of one format can hardly have both ends of the scores."""
    highest, lowest = _ends(problem)
    return highest - lowest > 80


def apart_in_a_row(problem: Problem) -> bool:
    """Whether those of one query are, of keys that it sees."""
    s = _scores(problem)
    seen = problem.allowed & np.isfinite(s)
    highest = s.max(axis=-1, where=seen, initial=-np.inf)
    lowest = s.min(axis=-1, where=seen, initial=np.inf)
    return bool((highest - lowest > 80).any())


def out_of_exp(problem: Problem) -> bool:
    """Whether the exponentials of a query's scores add up to too much for the format, or to naught.

    Naught: less than the smallest normal number. Keys that are not seen do not count.
    """
    to, s = formats.FORMATS[problem.dtype], _scores(problem)
    s = np.where(problem.allowed & np.isfinite(s), s, -np.inf)
    top = s.max(axis=-1, initial=-np.inf)[~problem.idle]
    if not top.size or not np.isfinite(top).all():
        return False
    logarithms = top + np.log(np.exp(s[~problem.idle] - top[:, None]).sum(axis=-1))
    return bool((logarithms > np.log(to.max)).any() or (logarithms < np.log(to.tiny)).any())


@lru_cache(maxsize=16)
def _weights(problem: Problem) -> Array:
    """What keys weigh beside each other, whatever a sink takes."""
    return definition.softmax(_scores(problem))


def small(problem: Problem) -> bool:
    """Whether a key that is seen has little weight."""
    return bool((_weights(problem)[problem.allowed] < 0.0001).any())


def next_to_nothing(problem: Problem) -> bool:
    """Whether a query sees something, and a key has none of its weight, or less than exp(-64)."""
    far = _weights(problem) < CLIPPED
    return bool((far | ~problem.allowed)[~problem.idle].any())


@lru_cache(maxsize=16)
def _lead(problem: Problem) -> float:
    """How far a hidden key would be ahead of all that a query sees; NaN if it is no number."""
    if problem.allowed.all() or not problem.M:
        return -np.inf
    mask = problem.mask
    added = None if mask is None or mask.dtype == bool else np.where(np.isneginf(mask), 0, mask)
    s = definition.scores(problem.but(mask=added, **NOTHING_HIDDEN))
    hidden, seen = (
        np.where(where, s, -np.inf).max(axis=-1) for where in (~problem.allowed, problem.allowed)
    )
    lead = np.subtract(hidden, seen, where=~problem.idle, out=np.full(hidden.shape, -np.inf))
    return float(lead.max(initial=-np.inf))


def ahead(by: float, problem: Problem) -> bool:
    """Whether a hidden key leads all that a query sees by more, or is NaN."""
    return not _lead(problem) <= by


def unhidden(problem: Problem, by: float = FAR) -> bool:
    """Whether a hidden key counts where its score is merely made lower, by about so much."""
    return bool(problem.M and problem.idle.any()) or ahead(by, problem)


def unfilled(fill: float, problem: Problem) -> bool:
    """Whether a query sees a key or a sink, all of them lower than a fill, and another is hidden.

    Lower by about so much.
    """
    most = definition.top(_scores(problem), definition.sinks(problem))[..., 0]
    hides = np.logical_not(problem.allowed.all(axis=-1) | problem.idle)
    return bool((hides & (most < fill + LITTLE)).any())


def unfilled_by(part: float, problem: Problem) -> bool:
    """The same of a fill that is a part of the lowest number in which scores are computed."""
    computed = "float64" if problem.dtype == "float64" else "float32"
    return unfilled(-part * formats.FORMATS[computed].max, problem)


def add_up(limit: float, problem: Problem) -> bool:
    """Whether the values of a column would, with weights of one, beyond a limit in either sign."""
    return bool((np.abs(problem.v).sum(axis=2) > limit).any())


def scaled(problem: Problem) -> bool:
    """Whether to multiply by the scale changes anything."""
    return problem.D > 0 and problem.sigma != 1


def inexact(problem: Problem) -> bool:
    """Whether to multiply by the scale rounds."""
    return problem.D > 0 and abs(float(np.frexp(problem.sigma)[0])) not in (0, 0.5)


def long(problem: Problem) -> bool:
    """Whether a number has more significant bits than float16, or TF32, keeps."""
    bits = formats.FORMATS["float16"].p
    mantissas = (np.ldexp(np.frexp(x)[0], bits) for x in (problem.q, problem.k, problem.v))
    return any(bool((x != np.rint(x)).any()) for x in mantissas)


def large(limit: float, problem: Problem) -> bool:
    """Whether a number in q, k or v is larger, of either sign."""
    return max(np.abs(x).max(initial=0.0) for x in (problem.q, problem.k, problem.v)) > limit


def tiny(problem: Problem) -> bool:
    """Whether a value that is not zero is about as small as normal numbers can be, or smaller."""
    v = np.abs(problem.v)
    return bool(((v > 0) & (v < 16 * formats.FORMATS[problem.dtype].tiny)).any())
