"""Feed-forward networks, as the engine asks for them."""

from spec.entries import eighths
from spec.feed_forward import mistakes, plug
from spec.feed_forward.notation import Problem
from spec.feed_forward.truth import truth
from spec.kind import Kind


def core(dtype: str) -> Problem:
    """Three positions of width four, and five units."""
    shapes = [(2, 3, 4), (4, 5), (5,), (5, 4), (4,), (2, 3, 4)]
    x, W1, b1, W2, b2, dy = (eighths(*shape, seed=i) for i, shape in enumerate(shapes))
    return Problem(x, W1, b1, W2, b2, dy, dtype=dtype)


KIND = Kind(
    about="feed-forward",
    noun="a feed-forward network",
    problem=Problem,
    definition="F1",
    core=core,
    truth=truth,
    mistakes=mistakes.MISTAKES,
    load=plug.feed_forward,
)
