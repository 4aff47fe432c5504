"""Caches, feed-forward networks and dropout: records that need little more."""

from __future__ import annotations

import numpy as np

from spec import cache, dropout, feed_forward
from spec.attention.notation import Gradients
from spec.cache.definition import DEFINITION
from spec.cache.notation import Problem as CacheProblem
from spec.cache.plug import cache as load_cache
from spec.cache.reading import reading
from spec.dropout.definition import attention as dropped
from spec.dropout.definition import gradients as dropped_gradients
from spec.dropout.definition import weights as dropped_weights
from spec.dropout.notation import Dropout, Modes
from spec.dropout.notation import Problem as DropoutProblem
from spec.dropout.plug import dropout as load_dropout
from spec.entries import eighths
from spec.feed_forward import definition as network
from spec.feed_forward.notation import FeedForward
from spec.feed_forward.notation import Gradients as NetworkGradients
from spec.feed_forward.notation import Problem as NetworkProblem
from spec.feed_forward.plug import feed_forward as load_network
from spec.formats import rounded
from spec.kind import Kind
from spec.notation import DTYPES, Array, Call

# Caches


def text(dtype: str) -> CacheProblem:
    """A text of five tokens in two sequences, in chunks of two."""
    shapes = {"q": (2, 3, 5, 4), "k": (2, 3, 5, 4), "v": (2, 3, 5, 4)}
    shapes |= {f"{name}_other": (2, 3, 2, 4) for name in "qkv"}
    q, k, v, *other = (eighths(*shape, seed=i) for i, shape in enumerate(shapes.values()))
    arrivals, lengths = np.full((2, 2), 2), np.array([5, 5])
    return CacheProblem(q, k, v, other[0], other[1], other[2], arrivals, lengths, dtype=dtype)


CACHE = Kind(
    about="cache",
    noun="a cache",
    definition="C16",
    first="extend",
    core=text,
    ask={"extend": reading},
    truth=lambda: DEFINITION,
    mistakes=cache.MISTAKES,
    load=load_cache,
)

# The feed-forward network


def network_of(dtype: str) -> NetworkProblem:
    """Three positions of width four, and five units."""
    shapes = [(2, 3, 4), (4, 5), (5,), (5, 4), (4,), (2, 3, 4)]
    x, W1, b1, W2, b2, dy = (eighths(*shape, seed=i) for i, shape in enumerate(shapes))
    return NetworkProblem(x, W1, b1, W2, b2, dy, dtype=dtype)


def _network() -> FeedForward:
    def forward(problem: NetworkProblem) -> Array:
        return rounded(network.feed_forward(problem), problem.dtype)

    def backward(problem: NetworkProblem) -> NetworkGradients:
        exact = network.gradients(problem)
        named = {name: getattr(exact, name) for name in exact.__dataclass_fields__}
        return NetworkGradients(**{n: rounded(x, problem.dtype) for n, x in named.items()})

    return FeedForward(
        "the definition",
        forward,
        backward,
        lambda problem: Call(forward(problem), problem.dtype),
        dtypes=DTYPES,
    )


FEED_FORWARD = Kind(
    about="feed-forward",
    noun="a feed-forward network",
    definition="F1",
    core=network_of,
    truth=_network,
    mistakes=feed_forward.MISTAKES,
    load=load_network,
)

# Dropout


def _dropout() -> Dropout:
    """The definition, with masks from NumPy's generator at the seed of the problem."""

    def kept(problem: DropoutProblem, chance: np.random.Generator) -> Array:
        shape = (problem.B, problem.H, problem.N, problem.M)
        return np.asarray(chance.random(shape) >= problem.rate)

    def one(problem: DropoutProblem) -> Array:
        return kept(problem, np.random.default_rng(problem.seed))

    def backward(problem: DropoutProblem) -> Gradients:
        exact = dropped_gradients(problem, one(problem))
        return Gradients(*(rounded(x, problem.dtype) for x in (exact.q, exact.k, exact.v)))

    def sequence(problem: DropoutProblem, modes: Modes) -> tuple[Array, ...]:
        chance = np.random.default_rng(problem.seed)
        calls = (problem.but(training=mode) for mode in modes)
        return tuple(rounded(dropped(p, kept(p, chance)), p.dtype) for p in calls)

    def forward(problem: DropoutProblem) -> Array:
        return sequence(problem, (problem.training,))[0]

    return Dropout(
        "the definition",
        forward=forward,
        sequence=sequence,
        backward=backward,
        weights=lambda problem: rounded(dropped_weights(problem, one(problem)), problem.dtype),
        call=lambda problem: Call(forward(problem), problem.dtype),
        dtypes=DTYPES,
    )


def _at_a_quarter(dtype: str) -> DropoutProblem:
    """Four queries and five keys, and a rate of a quarter."""
    q, k, v, dout = (eighths(2, 3, n, 2, seed=i) for i, n in enumerate((4, 5, 5, 4)))
    return DropoutProblem(q, k, v, dout, p=0.25, dtype=dtype)


DROPOUT = Kind(
    about="dropout",
    noun="attention with dropout",
    definition="D1",
    core=_at_a_quarter,
    truth=_dropout,
    mistakes=dropout.MISTAKES,
    load=load_dropout,
)

OTHERS = (FEED_FORWARD, DROPOUT, CACHE)
