"""Problems of normal numbers in shapes of different axes, and what hides their keys."""

from typing import Any

import numpy as np

from spec.attention.notation import Problem
from spec.notation import Array


def draw(
    B: int = 2,
    H: int = 4,
    G: int = 4,
    N: int = 5,
    M: int = 7,
    D: int = 6,
    E: int = 3,
    size: float = 1.0,
    **options: Any,
) -> Problem:
    """A problem of normal numbers; q is `size` times larger."""
    chance = np.random.default_rng([B, H, G, N, M, D, E])
    shapes = {"q": (B, H, N, D), "k": (B, G, M, D), "v": (B, G, M, E), "dout": (B, H, N, E)}
    arrays = {name: chance.standard_normal(shape) for name, shape in shapes.items()}
    arrays["q"] *= size
    return Problem(**{**arrays, **options})


def permits(*shape: int, live: bool = True) -> Array:
    """A random boolean mask; every row keeps a key if `live`."""
    mask = np.random.default_rng(shape).random(shape) < 0.6
    mask[..., 1] |= live
    return mask


def biases(*shape: int) -> Array:
    """An additive mask with finite numbers, and -inf where a fifth of them was."""
    chance = np.random.default_rng(shape)
    mask = chance.standard_normal(shape)
    mask[chance.random(shape) < 0.2] = -np.inf
    mask[..., 1] = 0.5
    return mask
